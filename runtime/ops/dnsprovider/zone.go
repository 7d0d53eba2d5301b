package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libdns/libdns"
)

// Zone is a customer's zone at a provider, for one request.
type Zone struct {
	provider *provider
	backend  backend
	scrub    scrubber
	name     string // with a final dot
	existing []Record
}

// Plan compares the wanted records with the current zone.
func (z *Zone) Plan(ctx context.Context, wanted []Wanted) (Plan, error) {
	var err error
	if z.existing, err = z.records(ctx); err != nil {
		return Plan{}, err
	}
	return Compare(z.name, wanted, z.existing), nil
}

// Apply writes the changes of the plan, then reads the zone again: After is its current content. A record
// that the provider accepted but does not show is a conflict. The detail "applied" of an error lists the
// purposes that were written before it.
func (z *Zone) Apply(ctx context.Context, p Plan) (Plan, error) {
	if len(p.Applied) == 0 {
		return p, nil
	}
	written, existing := []string{}, z.existing
	for _, item := range p.Applied {
		if err := z.write(ctx, item, existing); err != nil {
			return Plan{}, withApplied(z.refusalError(ctx, "write "+item.Type+" "+item.Name, err), written)
		}
		written = append(written, item.Purpose)
		existing = item.applyTo(existing)
	}
	return z.readBack(ctx, p)
}

// write makes one change.
func (z *Zone) write(ctx context.Context, item Item, existing []Record) error {
	adding := []libdns.Record{z.provider.style.write(z.name, item.record(), existing)}
	added, err := z.callProvider(func() ([]libdns.Record, error) {
		return z.backend.AppendRecords(ctx,
			z.name, adding)
	})
	if err != nil || item.replaces == nil {
		return err
	}
	if err = z.remove(ctx, item.replaces.raw); err == nil {
		return nil
	}
	if len(added) == 0 {
		added = adding
	}
	return errors.Join(err, z.takeBack(ctx, added))
}

// takeBack removes a record that was added next to one that could not be removed, even if the request has
// ended: two SPF records are worse than either one.
func (z *Zone) takeBack(ctx context.Context, added []libdns.Record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	if err := z.remove(ctx, added...); err != nil {
		return fmt.Errorf("both the new and the old record exist, remove the old one manually: %w", err)
	}
	return nil
}

// remove deletes exactly these records, as returned by the provider.
func (z *Zone) remove(ctx context.Context, records ...libdns.Record) error {
	exact := make([]libdns.Record, 0, len(records))
	for _, r := range records {
		exact = append(exact, z.provider.style.exact(r))
	}
	_, err := z.callProvider(func() ([]libdns.Record, error) { return z.backend.DeleteRecords(ctx, z.name, exact) })
	return err
}

func (z *Zone) readBack(ctx context.Context, p Plan) (Plan, error) {
	now, err := z.records(ctx)
	if err != nil {
		return Plan{}, err
	}
	done := Plan{Applied: []Item{}, Unchanged: p.Unchanged, Conflicts: slices.Clone(p.Conflicts)}
	for _, item := range p.Applied {
		written := slices.IndexFunc(now, item.record().equals)
		stuck := item.replaces != nil && slices.ContainsFunc(now, item.replaces.equals)
		switch {
		case written < 0:
			item.Reason = fmt.Sprintf("%s accepted the record but does not show it; check it there and try again "+
				"later.",
				z.provider.name)
		case stuck:
			item.Reason = fmt.Sprintf("%s did not remove the old record; change it by hand to: %s", z.provider.name,
				item.Write)
			if err := z.takeBack(ctx, []libdns.Record{now[written].raw}); err != nil {
				return Plan{}, z.refusalError(ctx, "undo adding "+item.Name, err)
			}
			now = slices.Delete(now, written, written+1)
		}
		item.After = texts(now, item.Name, item.Type)
		if item.Reason != "" {
			done.Conflicts = append(done.Conflicts, item)
			continue
		}
		done.Applied = append(done.Applied, item)
	}
	return done, nil
}

// records reads the zone.
func (z *Zone) records(ctx context.Context) ([]Record, error) {
	found, err := z.callProvider(func() ([]libdns.Record, error) { return z.backend.GetRecords(ctx, z.name) })
	if err != nil {
		return nil, z.refusalError(ctx, "read", err)
	}
	records := make([]Record, 0, len(found))
	for _, r := range found {
		records = append(records, z.provider.style.read(z.name, r))
	}
	return records, nil
}

// callProvider calls a library and recovers its panics, because some libraries panic on unexpected responses
// (cloudflare v0.2.2 on one without result_info).
func (z *Zone) callProvider(call func() ([]libdns.Record, error)) (records []libdns.Record, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid response (%v)", r)
		}
	}()
	return call()
}
