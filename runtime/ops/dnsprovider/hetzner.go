package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/libdns/libdns"
)

// hetzner implements the required part of the Hetzner Cloud API
// (https://docs.hetzner.cloud/reference/cloud#zone-rrset-actions). Its unit is the record set, to which records are
// added individually. A change is an action that may take a moment.
type hetzner struct{ api restClient }

var _ backend = (*hetzner)(nil)

// hetznerMinTTL is the shortest TTL that the API accepts, in seconds.
const hetznerMinTTL = 60

// openHetzner does not connect yet.
func openHetzner(_ context.Context, s *Service, c given) (backend, error) {
	return &hetzner{s.newRESTClient("https://api.hetzner.cloud/v1/", c["api_token"])}, nil
}

type hetznerValue struct {
	Value string `json:"value"`
}

type hetznerChange struct {
	Values []hetznerValue `json:"records"`
	TTL    int            `json:"ttl,omitempty"`
}

type hetznerAction struct {
	ID     int64
	Status string // running, success or error
	Error  struct{ Code, Message string }
}

func zonePath(zone string) string { return "zones/" + url.PathEscape(strings.TrimSuffix(zone, ".")) }

// GetRecords returns all records of a zone.
func (p *hetzner) GetRecords(ctx context.Context, zone string) ([]libdns.Record, error) {
	var found struct{ Zone struct{ TTL int } }
	if err := p.api.call(ctx, http.MethodGet, zonePath(zone), nil, nil, &found); err != nil {
		return nil, err
	}
	var records []libdns.Record
	for number := 1; number <= maxPages; number++ {
		var page struct {
			Sets []struct {
				Name, Type string
				TTL        *int // null if it is the default of the zone
				Records    []hetznerValue
			} `json:"rrsets"`
			Meta struct {
				Pagination struct {
					Next *int `json:"next_page"`
				}
			}
		}
		query := url.Values{"per_page": {"50"}, "page": {strconv.Itoa(number)}}
		if err := p.api.call(ctx, http.MethodGet, zonePath(zone)+"/rrsets", query, nil, &page); err != nil {
			return nil, err
		}
		for _, set := range page.Sets {
			ttl := found.Zone.TTL
			if set.TTL != nil {
				ttl = *set.TTL
			}
			for _, v := range set.Records {
				records = append(records, libdns.RR{Name: set.Name, Type: set.Type, Data: v.Value,
					TTL: time.Duration(ttl) * time.Second})
			}
		}
		if page.Meta.Pagination.Next == nil {
			return records, nil
		}
	}
	return nil, errTooManyRecords
}

// AppendRecords adds records to their sets.
func (p *hetzner) AppendRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	var added []libdns.Record
	for _, record := range records {
		ttl := int(record.RR().TTL.Seconds())
		if ttl > 0 {
			ttl = max(ttl, hetznerMinTTL)
		}
		if err := p.change(ctx, zone, "add_records", record, ttl); err != nil {
			return added, err
		}
		added = append(added, record)
	}
	return added, nil
}

// DeleteRecords removes records from their sets, and returns those that existed.
func (p *hetzner) DeleteRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	var deleted []libdns.Record
	for _, record := range records {
		err := p.change(ctx, zone, "remove_records", record, 0)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return deleted, err
		}
		deleted = append(deleted, record)
	}
	return deleted, nil
}

// change starts an action for one record and waits until it has ended.
func (p *hetzner) change(ctx context.Context, zone, action string, record libdns.Record, ttl int) error {
	rr := record.RR()
	path := zonePath(zone) + "/rrsets/" + url.PathEscape(strings.ToLower(rr.Name)) + "/" + url.PathEscape(rr.Type) +
		"/actions/" + action
	var started struct{ Action hetznerAction }
	body := hetznerChange{Values: []hetznerValue{{rr.Data}}, TTL: ttl}
	if err := p.api.call(ctx, http.MethodPost, path, nil, body, &started); err != nil {
		return err
	}
	current := started.Action
	for current.Status == "running" {
		if err := wait(ctx, p.api.pause); err != nil {
			return err
		}
		var found struct{ Actions []hetznerAction }
		query := url.Values{"id": {strconv.FormatInt(current.ID, 10)}}
		if err := p.api.call(ctx, http.MethodGet, "actions", query, nil, &found); err != nil {
			return err
		}
		if len(found.Actions) != 1 {
			return errors.New("the action is unknown")
		}
		current = found.Actions[0]
	}
	if current.Status == "error" {
		return fmt.Errorf("%s %s", current.Error.Code, current.Error.Message)
	}
	return nil
}
