package outbound

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent"
	entsource "github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// SourceInput is the input of AddSource.
type SourceInput struct {
	Address   string // IPv4 or IPv6, available on a running process
	Node      string // name of the process that sends from it; empty means any that has it
	Hostname  string // name in the address's PTR record
	Pool      string // shared, pool or dedicated
	Account   string // owner (email or id), for pool dedicated only
	WarmUp    bool   // start the warm-up now
	Unchecked bool   // skip the check that a process has the address, for a planned address
}

// Validate reports every invalid field.
func (in SourceInput) Validate() error {
	_, wrong := in.parseInput()
	return wrong.Err()
}

func (in SourceInput) parseInput() (source, fault.Fields) {
	wrong := fault.Fields{}
	var s source
	var err error
	if s.addr, err = netip.ParseAddr(strings.TrimSpace(in.Address)); err != nil {
		wrong.Add("address", "must be an IP address")
	} else if s.addr = s.addr.Unmap(); s.addr.Zone() != "" || s.addr.IsUnspecified() || s.addr.IsMulticast() {
		wrong.Add("address", "cannot be used to send mail")
	}
	if s.hostname, err = address.ParseDomain(in.Hostname); err != nil {
		wrong.Add("hostname", "%s", err)
	}
	if s.node = in.Node; s.node != "" {
		if err := config.CheckName(s.node); err != nil {
			wrong.Add("node", "%s", err)
		}
	}
	s.pool = entsource.Pool(in.Pool)
	switch dedicated := s.pool == entsource.PoolDedicated; {
	case entsource.PoolValidator(s.pool) != nil:
		wrong.Add("pool", "must be %s, %s or %s", entsource.PoolShared, entsource.PoolPool, entsource.PoolDedicated)
	case dedicated && in.Account == "":
		wrong.Add("account", "is required: a dedicated address belongs to one account")
	case !dedicated && in.Account != "":
		wrong.Add("account", "requires the pool dedicated")
	}
	return s, wrong
}

// AddSource stores a source. Unless Unchecked is set, it checks that the named process, or any running
// process, has the address. If no process is running, it checks this machine.
func (s *Service) AddSource(ctx context.Context, in SourceInput) (*ent.Source, error) {
	parsed, wrong := in.parseInput()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	if !in.Unchecked {
		if err := s.checkSource(ctx, parsed); err != nil {
			return nil, err
		}
	}
	var accountID *string
	if in.Account != "" {
		account, err := s.accounts.Find(ctx, in.Account)
		if err != nil {
			return nil, err
		}
		accountID = &account.ID
	}
	var stored *ent.Source
	err := s.change(ctx, "add source", func(tx *ent.Tx) (err error) {
		add := tx.Source.Create().SetID(id.New(id.Source)).SetAddress(parsed.addr.String()).
			SetHostname(parsed.hostname).SetPool(parsed.pool).SetNillableAccountID(accountID)
		if parsed.node != "" {
			add.SetNode(parsed.node)
		}
		if in.WarmUp {
			now, err := db.Now(ctx, tx)
			if err != nil {
				return err
			}
			add.SetWarmupStartedAt(now)
		}
		stored, err = add.Save(ctx)
		if ent.IsConstraintError(err) {
			return fault.Conflictf(fault.CodeConflict, "A source with the address %s already exists", parsed.addr).
				WithCause(err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return stored.Unwrap(), nil
}

// checkSource rejects an address that no delivering process has.
func (s *Service) checkSource(ctx context.Context, in source) error {
	list, err := node.Processes(ctx, s.db)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(p node.Process) bool { return !p.Alive || !p.Is(node.Delivers) })
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Name
	}
	switch {
	case hasAddress(list, in.addr, in.node):
		return nil
	case len(list) == 0 && in.node == "":
		return fault.InvalidField("address",
			"must be an address of this machine or of a running delivery process, but %s is not", in.addr)
	case in.node == "":
		return fault.InvalidField("address", "cannot be %s: no running process has it (running: %s)", in.addr,
			strings.Join(names, ", "))
	case len(list) == 0:
		return fault.InvalidField("node", "cannot be %s: no delivery process is running", in.node)
	case !slices.Contains(names, in.node):
		return fault.InvalidField("node", "cannot be %s: the running delivery processes are %s", in.node,
			strings.Join(names, ", "))
	}
	return fault.InvalidField("address", "the process %s does not have %s", in.node, in.addr)
}

// PauseSource pauses or resumes a source. The warm-up continues by calendar day during a pause.
func (s *Service) PauseSource(ctx context.Context, addressOrID string, pause bool) (*ent.Source, error) {
	var changed *ent.Source
	err := s.change(ctx, "pause source", func(tx *ent.Tx) error {
		found, err := findSource(ctx, tx, addressOrID)
		if err != nil {
			return err
		}
		update := tx.Source.UpdateOne(found)
		if !pause {
			update.ClearPausedAt()
		} else if found.PausedAt == nil {
			now, err := db.Now(ctx, tx)
			if err != nil {
				return err
			}
			update.SetPausedAt(now)
		}
		changed, err = update.Save(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changed.Unwrap(), nil
}

// MoveSource sets the process that sends from a source: a named process, or, if empty, any process whose
// machine has the address. Its warm-up and counters are kept. Its queued mail moves with it.
func (s *Service) MoveSource(ctx context.Context, addressOrID, to string, unchecked bool) (*ent.Source, error) {
	if to != "" {
		if err := config.CheckName(to); err != nil {
			return nil, fault.InvalidField("node", "%s", err)
		}
	}
	var changed *ent.Source
	err := s.change(ctx, "move source", func(tx *ent.Tx) error {
		found, err := findSource(ctx, tx, addressOrID)
		if err != nil {
			return err
		}
		if !unchecked {
			addr, err := netip.ParseAddr(found.Address)
			if err != nil {
				return err
			}
			if err := s.checkSource(ctx, source{addr: addr, node: to}); err != nil {
				return err
			}
		}
		update := tx.Source.UpdateOne(found)
		if to == "" {
			update.ClearNode()
		} else {
			update.SetNode(to)
		}
		changed, err = update.Save(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changed.Unwrap(), nil
}

// RemoveSource deletes a source and its counters.
func (s *Service) RemoveSource(ctx context.Context, addressOrID string) error {
	return s.change(ctx, "remove source", func(tx *ent.Tx) error {
		found, err := findSource(ctx, tx, addressOrID)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM source_days WHERE source_id = $1`, found.ID); err != nil {
			return err
		}
		return tx.Source.DeleteOne(found).Exec(ctx)
	})
}

func findSource(ctx context.Context, tx *ent.Tx, addressOrID string) (*ent.Source, error) {
	which := entsource.ID(addressOrID)
	if !id.Is(id.Source, addressOrID) {
		addr, err := netip.ParseAddr(addressOrID)
		if err != nil {
			return nil, fault.NoSuch("source", addressOrID)
		}
		which = entsource.Address(addr.Unmap().String())
	}
	found, err := tx.Source.Query().Where(which).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("source", addressOrID)
	}
	return found, err
}

// SourceState is a source with today's state of its warm-up.
type SourceState struct {
	*ent.Source

	Warm        bool  // has no limit
	Limit, Used int64 // today's values, for a source that is not warm
	Day         int   // day of the warm-up, starting at 1
}

// Sources lists all sources, oldest first.
func (s *Service) Sources(ctx context.Context) ([]SourceState, error) {
	rows, err := s.db.Ent.Source.Query().Order(ent.Asc(entsource.FieldID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	var read snapshot
	if err := readSources(ctx, s.db, &read); err != nil {
		return nil, err
	}
	states := make([]SourceState, 0, len(rows))
	for _, row := range rows {
		state := SourceState{Source: row, Warm: true}
		for _, src := range read.sources {
			if src.id == row.ID {
				state.Warm, state.Limit, state.Used, state.Day = src.warm, src.limit, src.used, src.day
			}
		}
		states = append(states, state)
	}
	return states, nil
}
