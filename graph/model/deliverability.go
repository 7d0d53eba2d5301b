package model

import (
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/deliverability"
)

// DomainDeliverability is the summary of a domain.
type DomainDeliverability struct {
	Since, Until, Grade string
	Reasons             []string
	Requirements        []DomainRequirement
	Totals              deliverability.Share
	Receivers           []deliverability.ReceiverShare
	Sources             []DMARCSource
	Advice              DMARCAdvice
	Placement           []deliverability.Placement
	Reporting           deliverability.Reporting
	TLS                 deliverability.TLSSummary
	Degradations        []deliverability.Degradation
	Blocklists          []deliverability.Listing
	FeedbackLoops       []deliverability.FeedbackLoop
	BIMI                []shape.RecordFinding
}

// DomainRequirement is a requirement with its optional fix.
type DomainRequirement struct {
	deliverability.Requirement

	State string
	Fix   *string
}

// DMARCSource is a source with its optional names.
type DMARCSource struct {
	deliverability.Source

	Name, Service *string
}

// DMARCAdvice is an advice with its optional policy and record.
type DMARCAdvice struct {
	deliverability.Advice

	Verdict        string
	Policy, Record *string
}
