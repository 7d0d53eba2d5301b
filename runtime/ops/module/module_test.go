package module_test

import (
	"testing"

	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/postrider/postrider/runtime/ops/module"
)

type bell struct{}

func (*bell) Ring() string { return "ding" }

type ringer interface{ Ring() string }

// A disabled module is a nil interface; an enabled one is usable.
func TestNearbyIsNilWithoutModule(t *testing.T) {
	t.Parallel()
	var off, on ringer
	fxtest.New(t, fx.Provide(module.Nearby[ringer, bell]), fx.Populate(&off))
	if off != nil {
		t.Errorf("without its module, Nearby returned %#v, want nil", off)
	}
	fxtest.New(t, fx.Provide(func() *bell { return &bell{} }), fx.Provide(module.Nearby[ringer, bell]),
		fx.Populate(&on))
	if on == nil || on.Ring() != "ding" {
		t.Errorf("with its module, Nearby returned %#v, want a service that rings", on)
	}
}

// Each module contributes its parts, and the assembly collects all of them.
func TestContributionsAreCollected(t *testing.T) {
	t.Parallel()
	type whole struct {
		fx.In

		Sweeps []module.Sweep        `group:"sweeps"`
		Kept   []module.PersonalData `group:"kept"`
		Health []module.Health       `group:"health"`
		Mail   []module.Recipients   `group:"recipients"`
		Drains []module.Drain        `group:"drains"`
	}
	var got whole
	fxtest.New(t,
		module.ProvideSweep(func() module.Sweep { return module.Sweep{What: "a"} }),
		module.ProvideSweep(func() module.Sweep { return module.Sweep{What: "b"} }),
		module.ProvidePersonalData(func() module.PersonalData { return module.PersonalData{What: "c"} }),
		module.ProvideHealth(func() module.Health { return module.Health{Name: "d"} }),
		module.ProvideRecipients(func() module.Recipients { return module.Recipients{} }),
		module.ProvideDrain(func() module.Drain { return func() {} }),
		fx.Invoke(func(w whole) { got = w }))
	if len(got.Sweeps) != 2 || len(got.Kept) != 1 || len(got.Health) != 1 || len(got.Mail) != 1 ||
		len(got.Drains) != 1 {
		t.Errorf("collected %+v, want two sweeps and one of each other kind", got)
	}
}
