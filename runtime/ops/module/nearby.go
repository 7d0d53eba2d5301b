package module

import "go.uber.org/fx"

// Optional is a service that Fx provides if its module is enabled; otherwise Service is nil.
type Optional[S any] struct {
	fx.In

	Service *S `optional:"true"`
}

// Nearby returns the service as the interface I, which is nil if its module is disabled: a nil pointer in an
// interface would not be nil. Provide it as fx.Provide(module.Nearby[Rewriter, tracking.Rewriter]). It panics
// if *S does not implement I, which every start and the tests of package app would detect.
func Nearby[I, S any](o Optional[S]) I {
	var none I
	if o.Service == nil {
		return none
	}
	return any(o.Service).(I)
}
