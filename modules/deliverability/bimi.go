package deliverability

import (
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains/bimi"
	"github.com/postrider/postrider/modules/domains/dnscheck"
)

// bimiFindings returns the findings about the BIMI record of a domain, or none if the domain has no logo.
func bimiFindings(records []dnscheck.RecordCheck) []shape.RecordFinding {
	for _, r := range records {
		switch {
		case r.Purpose != dnscheck.BIMI:
		case len(r.Findings) > 0:
			return r.Findings
		default:
			return []shape.RecordFinding{{Code: "record", State: bimi.Unknown, Found: "The record has not been checked yet.",
				Fix: "Verify the domain, or wait for the next check."}}
		}
	}
	return []shape.RecordFinding{}
}
