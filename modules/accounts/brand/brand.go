package brand

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Module provides *Service.
var Module = fx.Module("brand", fx.Provide(New))

// Brand is the appearance of an account. The zero Brand means no branding.
type Brand struct {
	Name  string // on one line
	Color string // #rrggbb in lower case
	Logo  []byte // PNG

	UpdatedAt time.Time // zero if it was never set
}

// Service reads and stores brands. It is safe for concurrent use.
type Service struct{ db *db.DB }

// New returns a new Service.
func New(d *db.DB) *Service { return &Service{d} }

// Brand returns the brand of an account, or the zero Brand if it has none. Both modes have the same brand.
func (s *Service) Brand(ctx context.Context, accountID string) (Brand, error) {
	found, err := db.All(ctx, s.db.SQL, brandFields, `SELECT name, color, logo, updated_at FROM account_brands WHERE id = $1`,
		id.HomeAccount(accountID))
	if err != nil {
		return Brand{}, fmt.Errorf("brand: %w", err)
	}
	if len(found) == 0 {
		return Brand{}, nil
	}
	return found[0], nil
}

const setSQL = `
INSERT INTO account_brands (id, name, color, logo, created_at, updated_at) VALUES ($1, $2, $3, $4, now(), now())
ON CONFLICT (id) DO UPDATE SET name = $2, color = $3, logo = $4, updated_at = now()
RETURNING name, color, logo, updated_at`

// SetBrand replaces the brand of an account. The error is Invalid and names every wrong field.
func (s *Service) SetBrand(ctx context.Context, accountID string, b Brand) (Brand, error) {
	if err := b.Validate().Err(); err != nil {
		return Brand{}, err
	}
	var logo any // NULL if there is no logo
	if len(b.Logo) > 0 {
		logo = b.Logo
	}
	stored, err := db.One(ctx, s.db.SQL, brandFields, setSQL, accountID, strings.TrimSpace(b.Name),
		strings.ToLower(b.Color), logo)
	if err != nil {
		return Brand{}, fmt.Errorf("set brand: %w", err)
	}
	return stored, nil
}

func brandFields(b *Brand) []any { return []any{&b.Name, &b.Color, &b.Logo, &b.UpdatedAt} }

var colorForm = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// Validate reports every wrong field.
func (b Brand) Validate() fault.Fields {
	wrong := fault.Fields{}
	accounts.CheckName(wrong, "name", b.Name)
	if b.Color != "" && !colorForm.MatchString(b.Color) {
		wrong.Add("color", "must be # and six hexadecimal digits, for example #1f5fbf")
	}
	checkLogo(wrong, "logo", b.Logo)
	return wrong
}
