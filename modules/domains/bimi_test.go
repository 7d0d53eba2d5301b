package domains

import (
	"context"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains/bimi"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/fault"
)

// squareLogo is a checker that finds a logo that is not square.
type squareLogo struct{}

func (squareLogo) Check(context.Context, string, string, string) []shape.RecordFinding {
	return []shape.RecordFinding{{Code: "logo_shape", State: bimi.Broken, Found: "The logo\x00 is not square.", Fix: "Make it square."}}
}

func TestBIMIFromSettingToFindings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.checks.checker.Logos = squareLogo{}
	d := w.verified(t, w.ada, "example.com")
	if _, shown := w.byPurpose(d)[dnscheck.BIMI]; shown {
		t.Error("a BIMI record is proposed without a logo")
	}
	plain, logo, mark, none := "http://example.com/logo.svg", "https://example.com/logo.svg", "https://example.com/vmc.pem", ""
	_, err := w.Update(t.Context(), w.ada, d.ID, DomainChange{BIMILogoURL: &plain})
	wantFault(t, err, fault.Invalid, fault.CodeValidation)
	if d, err = w.Update(t.Context(), w.ada, d.ID, DomainChange{BIMILogoURL: &logo, BIMICertificateURL: &mark}); err != nil {
		t.Fatal(err)
	}
	if until := time.Until(*d.DueAt); until > 2*time.Minute {
		t.Errorf("the next check is due in %s", until)
	}
	record := w.byPurpose(d)[dnscheck.BIMI]
	if record.Name != "default._bimi.example.com" || record.Value != "v=BIMI1; l="+logo+"; a="+mark+";" || record.Required ||
		record.Status != dnscheck.Missing {
		t.Errorf("the record is %+v", record)
	}
	w.zone.Set(t, record.Name, zoneLine(record))
	d = w.verify(t, d)
	record = w.byPurpose(d)[dnscheck.BIMI]
	if d.Status != "verified" || record.Status != dnscheck.Mismatch || len(record.Findings) != 3 ||
		record.Findings[2] != (shape.RecordFinding{Code: "logo_shape", State: bimi.Broken, Found: "The logo\uFFFD is not square.", Fix: "Make it square."}) {
		t.Errorf("after the check, the domain is %s with %+v", d.Status, record)
	}
	if d, err = w.Update(t.Context(), w.ada, d.ID, DomainChange{BIMILogoURL: &none}); err != nil {
		t.Fatal(err)
	}
	if _, shown := w.byPurpose(d)[dnscheck.BIMI]; shown {
		t.Error("a BIMI record is proposed after the logo was removed")
	}
}
