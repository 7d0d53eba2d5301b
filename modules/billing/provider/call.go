package provider

import (
	"context"
	"iter"
	"net/http"
	"reflect"

	"github.com/stripe/stripe-go/v86"
	"github.com/stripe/stripe-go/v86/form"
)

// Requests use the library's backend, parameters and objects, but not stripe.Client: it has about 150 services, which
// add 6 MB to the program.

// object is an object of Stripe's API.
type object[T any] interface {
	*T
	stripe.LastResponseSetter
}

// get retrieves an object. The parameters of the path are escaped.
func get[T any, P object[T]](ctx context.Context, c *Client, path string, ids ...string) (P, error) {
	out := P(new(T))
	return out, c.backend.Call(http.MethodGet, stripe.FormatURLPath(path, ids...), c.key.Reveal(),
		&stripe.Params{Context: ctx}, out)
}

// post creates or changes an object.
func post[T any, P object[T]](ctx context.Context, c *Client, path string, params stripe.ParamsContainer,
) (P, error) {
	params.GetParams().Context = ctx
	out := P(new(T))
	return out, c.backend.Call(http.MethodPost, path, c.key.Reveal(), params, out)
}

// page is one page of a list.
type page[T any] struct {
	stripe.APIResource
	stripe.ListMeta
	Data []*T `json:"data"`
}

// list returns the objects of a list. It requests further pages as needed.
func list[T any](ctx context.Context, c *Client, path string, params stripe.ListParamsContainer) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for {
			found, err := listPage[T](ctx, c, path, params)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, one := range found.Data {
				if !yield(one, nil) {
					return
				}
			}
			if !found.HasMore || len(found.Data) == 0 {
				return
			}
			last := reflect.ValueOf(found.Data[len(found.Data)-1]).Elem().FieldByName("ID").String()
			params.GetListParams().StartingAfter = &last
		}
	}
}

func listPage[T any](ctx context.Context, c *Client, path string, params stripe.ListParamsContainer) (*page[T], error) {
	body := &form.Values{}
	form.AppendTo(body, params)
	out := &page[T]{}
	return out, c.backend.CallRaw(http.MethodGet, path, c.key.Reveal(), []byte(body.Encode()),
		&stripe.Params{Context: ctx}, out)
}

// collectAll collects a list.
func collectAll[T, R any](list iter.Seq2[*T, error], as func(*T) R) (out []R, err error) {
	for one, err := range list {
		if err != nil {
			return nil, err
		}
		out = append(out, as(one))
	}
	return out, nil
}
