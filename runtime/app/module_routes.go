package app

import (
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/work/event"
)

// route is a set of REST routes of a module: a constructor for Fx, and the same routes without services.
type route struct {
	construct any
	describe  func(on []string) api.Routes
}

// placeholder replaces an argument of a constructor whose routes are only described: no service, and the events of the
// modules that are on.
func placeholder[A any](on []string) A {
	if offer, is := any(event.Offer(on)).(A); is {
		return offer
	}
	return *new(A)
}

// routesOf returns the route of a constructor from one service.
func routesOf[A any](construct func(A) api.Routes) route {
	return route{construct, func(on []string) api.Routes { return construct(placeholder[A](on)) }}
}

// routesOf2 returns the route of a constructor from two services.
func routesOf2[A, B any](construct func(A, B) api.Routes) route {
	return route{construct, func(on []string) api.Routes { return construct(placeholder[A](on), placeholder[B](on)) }}
}

// routesOf3 returns the route of a constructor from three services.
func routesOf3[A, B, C any](construct func(A, B, C) api.Routes) route {
	return route{construct, func(on []string) api.Routes {
		return construct(placeholder[A](on), placeholder[B](on), placeholder[C](on))
	}}
}
