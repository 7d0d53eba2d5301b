package account

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts/brand"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
)

// Brands is the part of brands that the operations use.
type Brands interface {
	Brand(ctx context.Context, accountID string) (brand.Brand, error)
	SetBrand(ctx context.Context, accountID string, b brand.Brand) (brand.Brand, error)
}

var _ Brands = (*brand.Service)(nil)

type brandRecord struct {
	Name      *string           `json:"name" doc:"The name that recipients see on the account's pages. null if none is set."`
	Color     *string           `json:"color" doc:"A color as # and six hexadecimal digits."`
	Logo      *string           `json:"logo" encoding:"base64" doc:"A PNG image in base64."`
	UpdatedAt wire.OptionalTime `json:"updated_at" doc:"null if the brand has never been set."`
}

type brandAnswer struct {
	Brand brandRecord `json:"brand" doc:"The brand of the account."`
}

// maxBrandBody has room for a logo in base64, even if an encoder escapes every slash.
const maxBrandBody = 2*brand.MaxLogo + 4096

type brandEdge struct{ brands Brands }

// BrandRoutes returns the routes of the account's brand.
func BrandRoutes(service Brands) api.Routes {
	return api.NewRoutes("brand", func(a *api.API) {
		e := &brandEdge{service}
		g := a.Tag(tagAccount, "")
		one := map[string]any{"brand": brandExample()}
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/account/brand", ID: "getAccountBrand", Needs: rights.ReadAccount,
			Summary: "Retrieve the brand", Description: "Returns the name, color and logo of the account on the " +
				"unsubscribe page. Unset fields are `null`.", Example: one,
		}, e.getBrand)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPut, Path: "/account/brand", ID: "putAccountBrand", Needs: rights.Settings,
			Summary: "Replace the brand",
			Description: "Replaces the whole brand: omitted fields are cleared. The page shows the brand next to " +
				"the domain that sent the email, and its text stays readable on any color.",
			Body: &api.Body{About: "The brand.", Limit: maxBrandBody, Examples: map[string]any{
				"color": map[string]any{"name": "Acme", "color": "#1f5fbf"},
				"logo":  map[string]any{"name": "Acme", "color": "#1f5fbf", "logo": exampleLogo}}},
			Example: one,
		}, brandBody, e.putBrand)
	})
}

func brandBody(b *brand.Brand) body.Object {
	return body.Object{Name: "PutAccountBrand", Fields: []body.Field{
		{Name: "name", Type: body.Text(&b.Name).Length(0, 200), About: "The name, shown above the text of the page."},
		{Name: "color", Type: body.Text(&b.Color).Pattern("^(#[0-9a-fA-F]{6})?$"), About: "The color of the button."},
		{Name: "logo", Type: body.Base64(&b.Logo), About: "A PNG image of at most 65,536 bytes and 1024 x 1024 " +
			"pixels. It is shown at most 48 pixels high on a white background."},
	}, Check: func(d *body.Decoder) { d.AddErrors(b.Validate()) }}
}

func (e *brandEdge) getBrand(ctx context.Context, c *api.Call, _ *api.None) (brandAnswer, error) {
	return api.As(newBrand)(e.brands.Brand(ctx, c.AccountID))
}

func (e *brandEdge) putBrand(ctx context.Context, c *api.Call, _ *api.None, b brand.Brand) (brandAnswer, error) {
	return api.As(newBrand)(e.brands.SetBrand(ctx, c.AccountID, b))
}

func newBrand(b brand.Brand) brandAnswer {
	out := brandRecord{Name: wire.OrNull(b.Name), Color: wire.OrNull(b.Color),
		Logo: wire.OrNull(base64.StdEncoding.EncodeToString(b.Logo))}
	if !b.UpdatedAt.IsZero() {
		out.UpdatedAt.At = &b.UpdatedAt
	}
	return brandAnswer{out}
}

// exampleLogo is one blue pixel.
const exampleLogo = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQj98PAAHeAT6KpYphAAAAAElFTkSuQmCC"

func brandExample() map[string]any {
	return map[string]any{"name": "Acme", "color": "#1f5fbf", "logo": exampleLogo,
		"updated_at": time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC).Format(wire.Layout)}
}
