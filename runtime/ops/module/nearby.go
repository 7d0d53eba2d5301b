package module

import "go.uber.org/fx"

// Optional is a service that Fx has when its module is on. Else Service is nil.
type Optional[S any] struct {
	fx.In

	Service *S `optional:"true"`
}

// Nearby gives the service as the interface I, which is nil where its module is off: a nil
// pointer in an interface would not be nil. It is provided as
// fx.Provide(module.Nearby[Rewriter, tracking.Rewriter]). It panics when *S is no I, which
// every start and the tests of the assembly would show.
func Nearby[I, S any](o Optional[S]) I {
	var none I
	if o.Service == nil {
		return none
	}
	return any(o.Service).(I)
}
