-- Runs of stub engines: no model asked
SELECT run_id, format, flow, outcome, started, native_id FROM v_runs WHERE counted AND stub ORDER BY started DESC, run_id
