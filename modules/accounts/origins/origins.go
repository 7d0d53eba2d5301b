// Package origins connects an account with the installations that it has moved from.
//
// Links and return paths in sent emails are signed with a master key of the installation that has sent them. Others
// cannot verify them. Each move therefore has a key that both of its installations know. The source creates it when the
// move begins, and the file of the account contains it, sealed like the other secrets of the account:
//
//   - After the move, the source signs with this key what it passes on to the target: links (modules/tracking,
//     modules/suppression) and reports (modules/bounces).
//   - The target asks the source about links and return paths that it receives itself and cannot verify (Ask). It signs
//     the question with this key.
//
// The keys remain with the account when it moves on. An installation asks each earlier one itself, and none of them
// asks another, so a question always ends.
package origins

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Module provides *Service.
var Module = fx.Module("origins", fx.Provide(ConfigOf, New))

// Config configures the service.
type Config struct{ BaseURL string } // of this installation

// ConfigOf returns the configuration from the installation's settings.
func ConfigOf(v setting.Values) Config { return Config{config.BaseURL.Get(v)} }

// Params are the dependencies of New.
type Params struct {
	fx.In

	Config Config
	DB     *db.DB
	Box    *secret.Box
	Logger *slog.Logger
}

// Service knows the earlier installations of all accounts. It is safe for concurrent use. A nil Service knows none.
type Service struct {
	baseURL string
	db      *db.DB
	box     *secret.Box
	log     *slog.Logger
	known   *cache.Cache[struct{}, map[string][]installation]
	turn    *intake.Pool
	client  *http.Client
}

// installation is an installation that an account has moved from.
type installation struct {
	baseURL string
	keys    *secret.Box // the key of the move
}

const (
	refresh      = 5 * time.Second // as for other data of accounts
	queryTimeout = 3 * time.Second
	// maxOrigins is the maximum number of earlier installations of an account that are remembered.
	maxOrigins = 8
)

// New returns a new Service.
func New(p Params) *Service {
	return &Service{baseURL: p.Config.BaseURL, db: p.DB, box: p.Box, log: p.Logger,
		known: cache.New(cache.Config[struct{}, map[string][]installation]{Max: 1, TTL: refresh,
			LoadTimeout: queryTimeout}),
		turn: intake.NewPool(atOnce), client: newClient()}
}

// DeriveEach returns the keys of one purpose for all moves of an account, those of the latest move first.
func (s *Service) DeriveEach(ctx context.Context, accountID, purpose string) ([][]byte, error) {
	list, err := s.listOf(ctx, accountID)
	keys := make([][]byte, len(list))
	for i, from := range list {
		keys[i] = from.keys.Derive(purpose)
	}
	return keys, err
}

// DeriveLatest returns the key of one purpose for the latest move of an account, or nil if it has never moved. Once an
// account has moved away from here, it signs what is passed on.
func (s *Service) DeriveLatest(ctx context.Context, accountID, purpose string) ([]byte, error) {
	list, err := s.listOf(ctx, accountID)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0].keys.Derive(purpose), nil
}

// Forget drops what is cached, for example once an account has moved here.
func (s *Service) Forget() { s.known.InvalidateAll() }

// listOf returns the installations that an account has moved from, the latest first.
func (s *Service) listOf(ctx context.Context, accountID string) ([]installation, error) {
	if s == nil {
		return nil, nil
	}
	// All accounts are loaded together: they are few, and forged tokens contain any account.
	all, err := s.known.Get(ctx, struct{}{}, s.load)
	return all[accountID], err
}

func (s *Service) load(ctx context.Context, _ struct{}) (map[string][]installation, error) {
	all := map[string][]installation{}
	err := db.Each(ctx, s.db.SQL, func(row db.Row) error {
		var accountID string
		var sealed []byte
		if err := row.Scan(&accountID, &sealed); err != nil {
			return err
		}
		list, err := s.open(accountID, sealed)
		if err != nil {
			s.log.WarnContext(loglimit.Collapse(ctx, "origins"), "cannot open the keys of moves",
				telemetry.KeyAccountID, accountID, telemetry.KeyError, err)
		}
		all[accountID] = list
		return nil
	}, `SELECT id, origins FROM accounts WHERE origins IS NOT NULL`)
	if err != nil {
		return nil, fmt.Errorf("read the earlier installations of accounts: %w", err)
	}
	return all, nil
}

func (s *Service) open(accountID string, sealed []byte) ([]installation, error) {
	list, err := openList(s.box, accountID, sealed)
	installations := make([]installation, 0, len(list))
	for _, o := range list {
		parsed, err := secret.ParseKeys(secret.New(o.Key))
		if err != nil {
			return nil, err
		}
		box, err := secret.NewBox(parsed...)
		if err != nil {
			return nil, err
		}
		installations = append(installations, installation{o.BaseURL, box})
	}
	return installations, err
}

// origin is an installation in the column origins of an account, which contains a JSON array of them, sealed with the
// master key. The latest is the first.
type origin struct {
	BaseURL string `json:"base_url"`
	Key     string `json:"key"` // in the format of a master key
}

func openList(box *secret.Box, accountID string, sealed []byte) (list []origin, err error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	plain, err := box.Open(sealed, sealPurpose(accountID))
	if err == nil {
		err = json.Unmarshal(plain, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("earlier installations of %s: %w", accountID, err)
	}
	return list, nil
}

// Add adds the installation with a base URL to the column origins of an account that begins to move from there, with a
// new key. It replaces an earlier entry of the same installation.
func Add(box *secret.Box, accountID string, sealed []byte, baseURL string) ([]byte, error) {
	list, err := openList(box, accountID, sealed)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(o origin) bool { return o.BaseURL == baseURL })
	list = slices.Insert(list, 0, origin{baseURL, secret.NewKey().Setting().Reveal()})
	plain, err := json.Marshal(list[:min(len(list), maxOrigins)])
	if err != nil {
		return nil, err
	}
	return box.Seal(plain, sealPurpose(accountID)), nil
}

func sealPurpose(accountID string) []byte { return []byte("accounts/" + accountID + "/origins") }
