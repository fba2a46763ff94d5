-- Runs of stub engines, which ask no model
SELECT run_id, format, flow, outcome, started, native_id FROM v_runs WHERE counted AND stub ORDER BY started DESC, run_id
