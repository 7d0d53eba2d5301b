package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/ops/doctor"
)

func TestDoctorReportsOnlyWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	whole := doctor.Report{Records: []doctor.Record{{Name: "mail.example"}}}
	whole.Add(doctor.Finding{Check: "database.fsync", Level: doctor.Error}, doctor.Finding{Check: "dns.spf"}, doctor.Finding{Check: "database.version"}, doctor.Finding{Check: "databases"})
	part, err := (&doctorCommand{Only: []string{"dns", "database"}}).selected(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got := checkNames(part); !slices.Equal(got, []string{"database.fsync", "database.version", "dns.spf"}) || part.ExitCode() != whole.ExitCode() {
		t.Errorf("of all checks --only dns,database leaves %v with exit code %d, want those of dns and database and %d", got, part.ExitCode(), whole.ExitCode())
	}
	if part, err = (&doctorCommand{Only: []string{"dns.spf"}}).selected(whole); err != nil || part.ExitCode() != 0 {
		t.Errorf("--only dns.spf gives %+v and the error %v, want that check alone", part, err)
	}
	if _, err = (&doctorCommand{Only: []string{"dsn"}}).selected(whole); err == nil || !strings.Contains(err.Error(), `no check begins with "dsn"; there are database.fsync, `) {
		t.Errorf("--only dsn gives the error %v, want one that names what there is", err)
	}
}
