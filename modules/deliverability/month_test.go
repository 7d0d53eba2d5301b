package deliverability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// monthReport is one report of testdata/traffic.json.
type monthReport struct {
	Day      int
	Receiver string
	Records  []struct {
		Source                       string
		Count                        int64
		Disposition, DKIM, SPF, Auth string
	}
}

// monthSums are the sums that testdata/make.py computed.
type monthSums struct {
	Reports            int64
	Days               int
	Totals             Share
	Sources, Receivers map[string]Share
	AtRisk             int64 `json:"at_risk"`
	Unknown            int64
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	check(t, err)
	check(t, json.Unmarshal(text, into))
}

// Thirty days of reports from two receivers about three sources have the sums that an independent program computed.
func TestMonthMatchesIndependentProgram(t *testing.T) {
	t.Parallel()
	var reports []monthReport
	var want monthSums
	readJSON(t, "traffic.json", &reports)
	readJSON(t, "sums.json", &want)
	w := newWorld(t)
	for _, r := range reports {
		var records []sent
		for _, x := range r.Records {
			records = append(records, sent{x.Source, x.Count, x.Disposition, x.DKIM, x.SPF, x.Auth})
		}
		check(t, w.send(t, delivery{w.addresses.Address(w.domain.ID), r.Receiver,
			gzipped(t, reportOf("example.com", fmt.Sprint(r.Day), w.ago(t, r.Day), records...))}))
	}
	check(t, w.LookUpSources(t.Context()))
	got, err := w.Summarize(t.Context(), w.ada, w.domain.ID)
	check(t, err)
	if got.Totals != want.Totals || got.Reporting.Reports != want.Reports || got.Advice.Days != want.Days ||
		got.Advice.AtRisk != want.AtRisk || got.Advice.Unknown != want.Unknown {
		t.Errorf("got %+v of %d reports and the advice %+v, want %+v", got.Totals, got.Reporting.Reports, got.Advice, want)
	}
	if len(got.Sources) != len(want.Sources) || len(got.Receivers) != len(want.Receivers) || len(want.Sources) != 3 {
		t.Errorf("got %d sources and %d receivers, want %d and %d", len(got.Sources), len(got.Receivers), len(want.Sources), len(want.Receivers))
	}
	for _, s := range got.Sources {
		if s.Share != want.Sources[s.Address] {
			t.Errorf("the source %s has %+v, want %+v", s.Address, s.Share, want.Sources[s.Address])
		}
	}
	for _, r := range got.Receivers {
		if r.Share != want.Receivers[r.Receiver] {
			t.Errorf("the receiver %s has %+v, want %+v", r.Receiver, r.Share, want.Receivers[r.Receiver])
		}
	}
}

// The stored traffic and sums are those that the independent program writes.
func TestMonthIsThatOfIndependentProgram(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed; the sums are compared with those it wrote before")
	}
	program, err := filepath.Abs("testdata/make.py")
	check(t, err)
	command := exec.CommandContext(t.Context(), python, program)
	command.Dir = t.TempDir()
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make.py: %v\n%s", err, output)
	}
	for _, name := range []string{"traffic.json", "sums.json"} {
		got, err := os.ReadFile(filepath.Join(command.Dir, name))
		check(t, err)
		want, err := os.ReadFile(filepath.Join("testdata", name))
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what make.py writes", name)
		}
	}
}
