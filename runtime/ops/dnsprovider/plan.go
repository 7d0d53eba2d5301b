package dnsprovider

import (
	"fmt"
	"slices"
	"strings"
)

// Rule says how a wanted record relates to existing records of the same name.
type Rule int

// The rules.
const (
	Additional    Rule = iota // other values of the type are allowed: ownership
	Alone                     // must be the only one of its type: CNAME, DKIM, MX
	MergeSPF                  // our include is added to an existing SPF record
	KeepPolicy                // an existing policy is the domain owner's decision
	ReplacePolicy             // the domain owner chose the policy: it replaces the existing one
)

// Wanted is a record that must exist.
type Wanted struct {
	Purpose string // passed through for the caller
	Record
	Rule    Rule
	Include string // MergeSPF: the host to include
}

// Item is the plan for one wanted record.
type Item struct {
	Wanted
	Write  string   // the value to publish: the wanted one, except for a merged SPF record
	Before []string // existing values of the type at the name
	After  []string // existing values after the change
	Reason string   // for a conflict: one sentence that says what to do

	replaces *Record
}

// Plan is the difference between the wanted and the existing records. Every wanted record is in one of the
// lists.
type Plan struct {
	Applied   []Item // to be written, or written
	Unchanged []Item // already exist
	Conflicts []Item // blocked by another record, not changed
}

type verdict int

const (
	apply verdict = iota
	unchanged
	conflict
)

// Compare returns the plan. It changes nothing; existing may be in any order.
func Compare(zone string, wanted []Wanted, existing []Record) Plan {
	zone = canonicalName(zone)
	p := Plan{Applied: []Item{}, Unchanged: []Item{}, Conflicts: []Item{}}
	there := slices.Clone(existing)
	for _, w := range wanted {
		w.Name = canonicalName(w.Name)
		if w.Type != "TXT" {
			w.Value = canonicalName(w.Value)
		}
		item := Item{Wanted: w, Write: w.Value, Before: texts(there, w.Name, w.Type)}
		switch item.decide(zone, there) {
		case unchanged:
			item.After = item.Before
			p.Unchanged = append(p.Unchanged, item)
		case conflict:
			item.After = item.Before
			p.Conflicts = append(p.Conflicts, item)
		case apply:
			there = item.applyTo(there)
			item.After = texts(there, w.Name, w.Type)
			p.Applied = append(p.Applied, item)
		}
	}
	return p
}

// Refuse turns changes that a further check rejects into conflicts. reason returns a sentence, or "" to keep
// a change.
func (p Plan) Refuse(reason func(Item) string) Plan {
	kept := []Item{}
	for _, item := range p.Applied {
		if why := reason(item); why != "" {
			item.Reason, item.After, item.Write = why, item.Before, item.Value
			p.Conflicts = append(p.Conflicts, item)
			continue
		}
		kept = append(kept, item)
	}
	p.Applied = kept
	return p
}

// record returns the record that the item writes.
func (i *Item) record() Record {
	r := i.Record
	r.Value = i.Write
	return r
}

func (i *Item) applyTo(there []Record) []Record {
	next := make([]Record, 0, len(there)+1)
	for _, r := range there {
		if i.replaces == nil || !r.equals(*i.replaces) {
			next = append(next, r)
		}
	}
	return append(next, i.record())
}

func (i *Item) markConflict(format string, args ...any) verdict {
	i.Reason = fmt.Sprintf(format, args...)
	return conflict
}

func (i *Item) decide(zone string, there []Record) verdict {
	if i.Name != zone && !strings.HasSuffix(i.Name, "."+zone) {
		return i.markConflict("%s is outside of the zone %s.", i.Name, zone)
	}
	if v, decided := i.decideDelegation(zone, there); decided {
		return v
	}
	here := recordsAt(there, i.Name)
	if i.Type == "CNAME" {
		return i.decideAlias(here)
	}
	// A CNAME excludes all other records (RFC 1034 section 3.6.2). Providers that allow one at the apex
	// publish the records of its target.
	alias := slices.IndexFunc(here, func(r Record) bool { return r.Type == "CNAME" })
	if alias >= 0 && i.Name != zone {
		if i.Rule == KeepPolicy {
			i.Before = []string{"CNAME " + here[alias].Value}
			return unchanged
		}
		return i.markConflict("Remove the CNAME record at %s, which points to %s: no other record can have this name.",
			i.Name,
			here[alias].Value)
	}
	same := slices.DeleteFunc(slices.Clone(here), func(r Record) bool { return r.Type != i.Type })
	switch i.Rule {
	case MergeSPF:
		return i.decideSPF(same)
	case KeepPolicy:
		return i.decidePolicy(same)
	case ReplacePolicy:
		return i.decideReplacement(same)
	case Alone:
		return i.decideAlone(same)
	default:
		if slices.ContainsFunc(same, i.equals) {
			return unchanged
		}
		return apply
	}
}

// decideDelegation detects a zone cut or a DNAME between the zone and the name, because records below it are
// invisible.
func (i *Item) decideDelegation(zone string, there []Record) (verdict, bool) {
	for _, r := range there {
		covers := i.Name == r.Name || strings.HasSuffix(i.Name, "."+r.Name)
		switch {
		case r.Type == "NS" && r.Name != zone && covers:
			return i.markConflict("%s is delegated to other name servers; publish the record there.", r.Name), true
		case r.Type == "DNAME" && i.Name != r.Name && covers:
			return i.markConflict("Everything below %s is an alias of %s (DNAME); publish the record there.", r.Name,
				r.Value), true
		}
	}
	return 0, false
}

func (i *Item) decideAlias(here []Record) verdict {
	for _, r := range here {
		switch {
		case r.equals(i.Record):
			return unchanged
		case r.Type == "CNAME":
			return i.markConflict("%s is an alias of %s; change that CNAME record to %s, or remove it.", i.Name,
				r.Value, i.Value)
		case r.Type != "RRSIG" && r.Type != "NSEC" && r.Type != "NSEC3":
			return i.markConflict("Remove the %s record at %s: a CNAME record cannot share its name with other records.", r.Type, i.Name)
		}
	}
	return apply
}

func (i *Item) decideAlone(same []Record) verdict {
	var others []string
	for _, r := range same {
		if r.equals(i.Record) || i.Type == "TXT" && sameTags(r.Value, i.Value) {
			continue
		}
		others = append(others, r.Text())
	}
	switch {
	case len(others) > 0:
		return i.markConflict("%s has another %s record already (%s); remove it if mail no longer depends on it.",
			i.Name,
			i.Type, clipText(others[0]))
	case len(same) > 0:
		return unchanged
	default:
		return apply
	}
}

func (i *Item) decidePolicy(same []Record) verdict {
	for _, r := range same {
		// RFC 7489 section 6.3, RFC 8460 section 3: the version is the first tag.
		if strings.EqualFold(versionOf(r.Value), versionOf(i.Value)) {
			return unchanged
		}
	}
	return apply
}

func (i *Item) decideReplacement(same []Record) verdict {
	same = slices.DeleteFunc(same, func(r Record) bool { return !strings.EqualFold(versionOf(r.Value), versionOf(i.Value)) })
	switch {
	case len(same) > 1:
		return i.markConflict("%s has %d records with a policy, so receivers ignore all of them; remove all but one.", i.Name,
			len(same))
	case len(same) == 0:
		return apply
	case same[0].equals(i.Record):
		return unchanged
	}
	i.replaces = &same[0]
	return apply
}

func versionOf(record string) string {
	version, _, _ := strings.Cut(record, ";")
	return strings.ReplaceAll(version, " ", "")
}

// sameTags compares two key records. White space, the order of tags and explicit defaults are insignificant
// (RFC 6376 section 3.6.1).
func sameTags(a, b string) bool {
	return slices.Equal(parseTags(a), parseTags(b))
}

func parseTags(record string) []string {
	list := []string{}
	for tag := range strings.SplitSeq(record, ";") {
		tag = strings.Join(strings.Fields(tag), "")
		if tag != "" && tag != "v=DKIM1" && tag != "k=rsa" {
			list = append(list, tag)
		}
	}
	slices.Sort(list)
	return list
}

func recordsAt(records []Record, name string) []Record {
	var here []Record
	for _, r := range records {
		if r.Name == name {
			here = append(here, r)
		}
	}
	return here
}

// texts lists the distinct values of one type at a name, in a stable order.
func texts(records []Record, name, recordType string) []string {
	list := []string{}
	for _, r := range recordsAt(records, name) {
		if r.Type == recordType {
			list = append(list, r.Text())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func clipText(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
