package plans_test

import (
	"reflect"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
)

// A field of a plan that Change, its SQL or PlanOf omits could be set in a request without effect.
func TestChangeCoversEveryField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var change plans.PlanChange
	want := accounts.Plan{ID: "covered"}
	given, into := reflect.ValueOf(&change).Elem(), reflect.ValueOf(&want).Elem()
	declared := change.Fields()
	for i := range into.NumField() {
		field := into.Type().Field(i)
		if field.Name == "ID" {
			continue
		}
		if !given.FieldByName(field.Name).IsValid() {
			t.Errorf("plans.Change has no field %s, which accounts.Plan has", field.Name)
			continue
		}
		switch to := into.Field(i).Addr().Interface().(type) {
		case *string:
			*to = "Covered"
		case *int:
			*to = i + 10
		case **int:
			*to = new(i + 10)
		case *bool:
			*to = true
		default:
			t.Fatalf("accounts.Plan.%s has the type %s, which the APIs cannot write", field.Name, field.Type)
		}
		if field.Name == "MonthlyEmails" { // cannot be combined with overage
			want.MonthlyEmails = nil
		}
		value := reflect.New(field.Type)
		value.Elem().Set(into.Field(i))
		given.FieldByName(field.Name).Set(value)
	}
	for _, f := range declared {
		if f.Name == "" || f.About == "" {
			t.Errorf("a field of plans.Change has no json or doc tag: %+v", f)
		}
	}
	if given.NumField() != into.NumField()-1 {
		t.Errorf("plans.Change has %d fields; accounts.Plan has %d and the ID", given.NumField(), into.NumField()-1)
	}
	if _, err := w.plans.Set(t.Context(), "covered", change); err != nil {
		t.Fatal(err)
	}
	got, err := w.plans.Plan(t.Context(), "covered")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the plan is stored as\n%+v, want\n%+v", got, want)
	}
	emails := new(7_000)
	change = plans.PlanChange{MonthlyEmails: &emails, Overage: new(false)}
	if _, err := w.plans.Set(t.Context(), "covered", change); err != nil {
		t.Fatal(err)
	}
	if got, err = w.plans.Plan(t.Context(), "covered"); err != nil || got.MonthlyEmails == nil ||
		*got.MonthlyEmails != 7_000 {
		t.Errorf("monthly_emails is stored as %v, %v, want 7000", got.MonthlyEmails, err)
	}
}
