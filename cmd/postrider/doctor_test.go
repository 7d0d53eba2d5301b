package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/ops/doctor"
)

func TestDoctorOnlySelectsChecks(t *testing.T) {
	t.Parallel()
	whole := doctor.Report{Records: []doctor.RequiredRecord{{Name: "mail.example"}}}
	whole.Add(doctor.Finding{Check: "database.fsync", Level: doctor.Error}, doctor.Finding{Check: "dns.spf"},
		doctor.Finding{Check: "database.version"}, doctor.Finding{Check: "databases"})
	part, err := (&doctorCommand{Only: []string{"dns", "database"}}).selectChecks(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got := checkNames(part); !slices.Equal(got, []string{"database.fsync", "database.version", "dns.spf"}) ||
		part.ExitCode() != whole.ExitCode() {
		t.Errorf("--only dns,database reports %v with exit code %d, want the checks of dns and database and exit code %d", got, part.ExitCode(), whole.ExitCode())
	}
	if part, err = (&doctorCommand{Only: []string{"dns.spf"}}).selectChecks(whole); err != nil || part.ExitCode() != 0 {
		t.Errorf("--only dns.spf reports %+v with error %v, want only that check", part, err)
	}
	if _, err = (&doctorCommand{Only: []string{"dsn"}}).selectChecks(whole); err == nil ||
		!strings.Contains(err.Error(), `no check starts with "dsn"; the checks are database.fsync, `) {
		t.Errorf("--only dsn returns the error %v, want one that lists the checks", err)
	}
}
