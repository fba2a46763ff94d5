package price

import "strings"

// serviceOf parses the service tier as written. A tier without prices is charged as standard, and flagged.
func (r *Result) serviceOf(e *Entry, u Request) Service {
	var s Service
	switch strings.ToLower(strings.TrimSpace(u.Tier)) {
	case "", "standard", "default", "auto", "on_demand", "on-demand":
		if isFast(u.Speed) && !hasFastFactor(e) && e.hasService(Priority) {
			r.flag(FlagFastPriority)
			return Priority
		}
		return Standard
	case "priority":
		s = Priority
	case "flex":
		s = Flex
	case "batch", "batches":
		s = Batch
	default:
		r.flag(FlagServiceUnpriced)
		return Standard
	}
	if e.hasService(s) {
		return s
	}
	if s == Batch && (tariff{entry: e}).anthropic() {
		r.flag(FlagBatchHalf)
		r.Factors = append(r.Factors, Factor{"batch", one / 2})
		return Standard
	}
	r.flag(FlagServiceUnpriced)
	return Standard
}

// factorsOf collects the factors of the whole request and returns their product in millionths.
func (r *Result) factorsOf(e *Entry, s Service, u Request) int64 {
	if isFast(u.Speed) || r.Match.Rule == RuleFast {
		if ppm, ok := e.factor("fast"); ok {
			r.Factors = append(r.Factors, Factor{"fast", ppm})
		} else if s != Priority {
			r.flag(FlagFastUnpriced)
		}
	}
	switch geo := strings.ToLower(strings.TrimSpace(u.Geo)); geo {
	case "", "global", "default", "none", "not_available":
	default:
		if ppm, ok := e.factor(geo); ok && geo != "fast" {
			r.Factors = append(r.Factors, Factor{geo, ppm})
		} else {
			r.flag(FlagGeoUnpriced)
		}
	}
	if r.Match.Rule == RuleRegion {
		r.flag(FlagRegion)
		if r.Match.region != one {
			r.Factors = append(r.Factors, Factor{"region", r.Match.region})
		}
	}
	ppm := int64(one)
	for _, f := range r.Factors {
		p, ok := mulDiv(ppm, f.PPM, one)
		if !ok || p > maxPPM {
			p = maxPPM
		}
		ppm = p
	}
	return ppm
}

func isFast(speed string) bool { return strings.EqualFold(strings.TrimSpace(speed), "fast") }

func hasFastFactor(e *Entry) bool {
	_, ok := e.factor("fast")
	return ok
}
