package dnscheck

import (
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/runtime/mail/dkim"
)

// ZoneFile returns records of a domain as lines of a zone file (RFC 1035 section 5.1). The names are
// absolute, so that they work in any origin.
func ZoneFile(d *ent.Domain, records []RecordCheck) string {
	var b strings.Builder
	fmt.Fprintf(&b, "; DNS records of %s for sending with Postrider.\n", d.Name)
	for _, r := range records {
		switch {
		case r.Purpose == SPF:
			b.WriteString("; A name can have only one SPF record: if one exists, add the include to it instead.\n")
		case r.Purpose == DKIM && !r.Required:
			fmt.Fprintf(&b, "; %s\n", zoneKeyNote(d, r.Selector))
		case !r.Required:
			b.WriteString("; Recommended, not required.\n")
		}
		b.WriteString(r.ZoneLine())
		b.WriteByte('\n')
	}
	return b.String()
}

// zoneKeyNote returns a comment for a key that verification does not depend on.
func zoneKeyNote(d *ent.Domain, selector string) string {
	for _, key := range d.Edges.Keys {
		switch {
		case key.Selector != selector:
		case key.RetiredAt != nil:
			return "Previous key; not needed after " + key.RetiredAt.Add(KeepRetired).UTC().Format(time.DateOnly) +
				"."
		case key.State == dkimkey.StatePending:
			return "Next key, which signs as soon as a check finds this record."
		}
	}
	return "Second signature; recommended, not required."
}

// ZoneLine returns the record as one line of a zone file.
func (r RecordCheck) ZoneLine() string {
	value := r.Value + "."
	switch {
	case r.Type == "TXT":
		value = dkim.ZoneText(r.Value)
	case r.Priority != nil:
		value = fmt.Sprintf("%d %s.", *r.Priority, r.Value)
	}
	return fmt.Sprintf("%s.\t%d\tIN\t%s\t%s", r.Name, r.TTL, r.Type, value)
}
