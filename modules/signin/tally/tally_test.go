package tally_test

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/postrider/postrider/modules/signin/tally"
	"github.com/postrider/postrider/runtime/fault"
)

func TestAttemptsAreCountedByTheirEnd(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	results, err := tally.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		"signed_in": nil,
		"refused":   fault.Unauthenticated(),
		"code":      fault.Forbiddenf(fault.CodeSecondFactorRequired, "give the code"),
		"limited":   &fault.Error{Kind: fault.Limit},
		"busy":      &fault.Error{Kind: fault.Away},
		"failed":    errors.New("a defect"),
	} {
		results.Count(err)
		if got := testutil.ToFloat64(results[want]); got != 1 {
			t.Errorf("after an attempt that ended with %v the count of %s is %v, want 1", err, want, got)
		}
	}
	if n, err := testutil.GatherAndCount(reg, "postrider_sign_in_total"); err != nil || n != 6 {
		t.Errorf("the registry has %d counters of sign-ins and the error %v, want 6", n, err)
	}
	if _, err := tally.New(reg); err == nil {
		t.Error("the counters are registered twice, want an error")
	}
}
