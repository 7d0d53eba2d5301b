package signin_test

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/openid"
	"github.com/postrider/postrider/runtime/base/fault"
)

func TestCountsAttemptsByResult(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	count, err := signin.NewCounters(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{nil, fault.Unauthenticated(), &openid.Refusal{Problem: openid.Unverified},
		&openid.Refusal{Problem: openid.Failed},
		fault.Forbiddenf(fault.CodeSecondFactorRequired, "give the code"), &fault.Error{Kind: fault.Limit},
		&fault.Error{Kind: fault.Unavailable}, errors.New("a defect")} {
		count(err)
	}
	families, err := reg.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "postrider_sign_in_total" {
		t.Fatalf("the registry has %v, %v; want the sign-in counters", families, err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	for name, want := range map[string]float64{"signed_in": 1, "refused": 2, "code": 1, "limited": 1, "busy": 1,
		"failed": 2} {
		if got[name] != want {
			t.Errorf("counter %s is %v, want %v: %v", name, got[name], want, got)
		}
	}
	if _, err := signin.NewCounters(reg); err == nil {
		t.Error("registering the counters twice succeeded, want an error")
	}
}
