package signin

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// counters counts attempts by result. It is safe for concurrent use.
type counters map[string]prometheus.Counter

// newCounters registers the counters. A nil registry leaves them unregistered.
func newCounters(reg prometheus.Registerer) (counters, error) {
	return telemetry.NewCounters(reg, "sign_in_total",
		"Sign-in attempts by result: code: correct password without the second factor; limited: too many attempts; "+
			"busy: no free slot to hash.", "result", "signed_in", "refused", "code", "limited", "busy", "failed")
}

// count counts an attempt by its error, which is nil for a success.
func (r counters) count(err error) { r[classifyError(err)].Inc() }

// refusal is an error of a sign-in method that classifies itself, such as a provider's.
type refusal interface {
	error
	IsRefused() bool
}

func classifyError(err error) string {
	if err == nil {
		return "signed_in"
	}
	if r, is := errors.AsType[refusal](err); is && r.IsRefused() {
		return "refused"
	}
	switch fault.KindOf(err) {
	case fault.Unauthorized, fault.Invalid, fault.NotFound, fault.Conflict:
		return "refused"
	case fault.Forbidden:
		if fault.Classify(err).Code == fault.CodeSecondFactorRequired {
			return "code"
		}
		return "refused"
	case fault.Limit:
		return "limited"
	case fault.Unavailable:
		return "busy"
	default:
		return "failed"
	}
}
