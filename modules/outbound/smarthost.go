package outbound

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/smarthost"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
)

// SmarthostInput is the input of SetSmarthost.
type SmarthostInput struct {
	Account  string        // the account's email or id
	Domain   string        // name or id of one of the account's domains; empty for all its mail
	URL      secret.String // smtp://user:password@host:port, smtps://…; ?verify=off accepts any certificate
	Password secret.String // instead of one in the URL
	Use      string        // always (the default) or fallback
}

// Validate reports every invalid field. No error contains the password.
func (in SmarthostInput) Validate() error {
	_, wrong := in.parseInput()
	return wrong.Err()
}

func (in SmarthostInput) parseInput() (*smtpclient.Smarthost, fault.Fields) {
	wrong := fault.Fields{}
	if strings.TrimSpace(in.Account) == "" {
		wrong.Add("account", "is required")
	}
	if _, err := address.ParseDomain(in.Domain); in.Domain != "" && err != nil && !id.Is(id.Domain, in.Domain) {
		wrong.Add("domain", "%s", err)
	}
	if in.Use != "" && smarthost.UseValidator(smarthost.Use(in.Use)) != nil {
		wrong.Add("use", "must be %s or %s", smarthost.UseAlways, smarthost.UseFallback)
	}
	host := in.host(wrong)
	return host, wrong
}

func (in SmarthostInput) host(wrong fault.Fields) *smtpclient.Smarthost {
	text := in.URL.Reveal()
	if !in.Password.IsZero() {
		u, err := url.Parse(text)
		if err != nil || u.User.Username() == "" {
			wrong.Add("url", "must include the user for the password: smtp://user@host:587")
			return nil
		}
		if _, given := u.User.Password(); given {
			wrong.Add("password", "cannot be combined with a password in the URL")
			return nil
		}
		u.User = url.UserPassword(u.User.Username(), in.Password.Reveal())
		text = u.String()
	}
	host, err := smtpclient.ParseSmarthost(text)
	if err != nil {
		wrong.Add("url", "%s", strings.TrimPrefix(err.Error(), "smarthost: "))
		return nil
	}
	if host.Host, err = hostName(host.Host); err != nil {
		wrong.Add("url", "%s", err)
		return nil
	}
	for field, value := range map[string]string{"user": host.Username, "password": host.Password} {
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			wrong.Add("url", "cannot contain control characters in the %s", field)
		}
	}
	return host
}

// hostName accepts an IP address, or a name in A-labels. A name without a dot is allowed, because it may
// belong to the operator's own network.
func hostName(text string) (string, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.String(), nil
	}
	const own = ".internal"
	if !strings.Contains(text, ".") {
		name, err := address.ParseDomain(text + own)
		return strings.TrimSuffix(name, own), err
	}
	return address.ParseDomain(text)
}

// SetSmarthost stores the smarthost of an account, or of one of its domains, for one use. It replaces the
// previous one.
func (s *Service) SetSmarthost(ctx context.Context, in SmarthostInput) (*ent.Smarthost, error) {
	host, wrong := in.parseInput()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	use := smarthost.UseAlways
	if in.Use != "" {
		use = smarthost.Use(in.Use)
	}
	account, err := s.accounts.Find(ctx, in.Account)
	if err != nil {
		return nil, err
	}
	var domainID *string
	if in.Domain != "" {
		domain, err := s.domains.Find(ctx, account.ID, in.Domain)
		if err != nil {
			return nil, err
		}
		domainID = &domain.ID
	}
	var stored *ent.Smarthost
	err = s.change(ctx, "set smarthost", func(tx *ent.Tx) (err error) {
		// Serialize changes per account, because no index enforces uniqueness.
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('outbound/smarthosts/' || $1, 0))`, account.ID); err != nil {
			return err
		}
		stored, err = s.store(ctx, tx, account.ID, domainID, use, host)
		return err
	})
	if err != nil {
		return nil, err
	}
	return stored.Unwrap(), nil
}

func (s *Service) store(ctx context.Context, tx *ent.Tx, accountID string, domainID *string, use smarthost.Use,
	host *smtpclient.Smarthost) (*ent.Smarthost, error) {
	there := smarthost.DomainIDIsNil()
	if domainID != nil {
		there = smarthost.DomainID(*domainID)
	}
	found, err := tx.Smarthost.Query().Where(smarthost.AccountID(accountID), there, smarthost.UseEQ(use)).First(ctx)
	switch {
	case ent.IsNotFound(err):
		made := id.New(id.Smarthost)
		c := tx.Smarthost.Create().SetID(made).SetAccountID(accountID).SetNillableDomainID(domainID).SetUse(use).
			SetHost(host.Host).SetPort(host.Port).
			SetImplicitTLS(host.Implicit).SetVerify(!host.Unverified).SetUsername(host.Username)
		if host.Password != "" {
			c.SetPassword(s.box.Seal([]byte(host.Password), sealedFor(made)))
		}
		return c.Save(ctx)
	case err != nil:
		return nil, err
	}
	u := tx.Smarthost.UpdateOneID(found.ID).SetHost(host.Host).SetPort(host.Port).SetImplicitTLS(host.Implicit).
		SetVerify(!host.Unverified).
		SetUsername(host.Username)
	if host.Password == "" {
		u.ClearPassword()
	} else {
		u.SetPassword(s.box.Seal([]byte(host.Password), sealedFor(found.ID)))
	}
	return u.Save(ctx)
}

// Smarthosts lists the smarthosts of an account, or of all accounts if empty, oldest first, for the
// operator.
func (s *Service) Smarthosts(ctx context.Context, account string) ([]*ent.Smarthost, error) {
	query := s.db.Ent.Smarthost.Query().Order(ent.Asc(smarthost.FieldID))
	if account != "" {
		found, err := s.accounts.Find(ctx, account)
		if err != nil {
			return nil, err
		}
		query.Where(smarthost.AccountID(found.ID))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list smarthosts: %w", err)
	}
	return rows, nil
}

// RemoveSmarthost deletes one smarthost.
func (s *Service) RemoveSmarthost(ctx context.Context, smarthostID string) error {
	return s.change(ctx, "remove smarthost", func(tx *ent.Tx) error {
		if !id.Is(id.Smarthost, smarthostID) {
			return fault.NoSuch("smarthost", smarthostID)
		}
		if err := tx.Smarthost.DeleteOneID(smarthostID).Exec(ctx); ent.IsNotFound(err) {
			return fault.NoSuch("smarthost", smarthostID)
		} else if err != nil {
			return err
		}
		return nil
	})
}

// change modifies the configuration in a transaction and notifies every process to read it again.
func (s *Service) change(ctx context.Context, what string, do func(tx *ent.Tx) error) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		return db.Notify(ctx, tx, configChannel)
	})
	if err != nil && fault.KindOf(err) == fault.Internal {
		return fmt.Errorf("%s: %w", what, err)
	}
	return err
}

// HasPassword reports whether a smarthost has a password. (Ent reads NULL as empty.)
func HasPassword(h *ent.Smarthost) bool { return h.Password != nil && len(*h.Password) > 0 }

// SmarthostURL returns the URL of a smarthost with the user name and without the password.
func SmarthostURL(h *ent.Smarthost) string {
	u := url.URL{Scheme: "smtp", Host: net.JoinHostPort(h.Host, strconv.Itoa(h.Port))}
	if h.ImplicitTLS {
		u.Scheme = "smtps"
	}
	if h.Username != "" {
		u.User = url.User(h.Username)
	}
	if !h.Verify {
		u.RawQuery = "verify=off"
	}
	return u.String()
}
