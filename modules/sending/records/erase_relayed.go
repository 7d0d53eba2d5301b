package records

import (
	"context"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/verbatim"
	"github.com/postrider/postrider/runtime/storage/db"
)

// redactRelayed removes an address from the header of a message that is still to be sent to others.
func (s *Service) redactRelayed(ctx context.Context, tx *ent.Tx, r *redaction, addr string) error {
	if !r.keepBody {
		return nil
	}
	found, err := db.All(ctx, tx, db.Value[[]byte], loadMIMESQL, r.email.ID, r.email.AccountID)
	if err != nil || len(found) == 0 {
		return err
	}
	r.mime, err = removeAddress(found[0], addr)
	return err
}

// removeAddress replaces the address in To and Cc with a placeholder. A list that cannot be parsed is
// removed entirely, and so is any other field that mentions the address. Fields that a message requires stay,
// as they do in the record.
func removeAddress(raw []byte, addr string) ([]byte, error) {
	fields, body, err := verbatim.Split(raw)
	if err != nil {
		return nil, err
	}
	kept := make([]verbatim.HeaderField, 0, len(fields))
	for _, f := range fields {
		switch {
		case f.Is("To"), f.Is("Cc"):
			list := verbatim.Mailboxes(f.Value())
			if len(list) > 0 && !listContains(list, addr) && !mentionsAddress(f, addr) {
				break
			}
			if list = replaceAddress(list, addr); len(list) == 0 {
				continue
			}
			f.Raw = mime.AddressField(f.Name, list)
		case !isIndispensable(f) && mentionsAddress(f, addr):
			continue
		}
		kept = append(kept, f)
	}
	return verbatim.Join(kept, body), nil
}

func isIndispensable(f verbatim.HeaderField) bool {
	return slices.Contains([]string{"from", "subject", "date", "message-id", "mime-version"},
		strings.ToLower(f.Name)) ||
		strings.HasPrefix(strings.ToLower(f.Name), "content-")
}

// listContains parses a list as mail servers do: an address may be quoted, folded or commented.
func listContains(list []address.Address, addr string) bool {
	return slices.ContainsFunc(list, func(a address.Address) bool { return strings.EqualFold(a.AddrSpec(), addr) })
}

func mentionsAddress(f verbatim.HeaderField, addr string) bool {
	return containsFold(f.Value(), addr) || containsFold(verbatim.Decode(f.Value()), addr) ||
		listContains(verbatim.Mailboxes(f.Value()), addr)
}

func containsFold(text, addr string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(addr))
}

// replaceAddress replaces an address with the placeholder, including where it is the display name of another
// address.
func replaceAddress(list []address.Address, addr string) []address.Address {
	for i, a := range list {
		switch {
		case listContains(list[i:i+1], addr):
			list[i] = address.Address{Local: erasedLocal, Domain: erasedDomain}
		case containsFold(a.Name, addr):
			list[i].Name = ""
		}
	}
	return list
}
