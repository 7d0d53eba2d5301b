package dnsprovider

import (
	"slices"
	"strings"
)

// maxSPFLookups is the number of terms with DNS lookups that a receiver follows (RFC 7208 section 4.6.4).
// Those inside includes count too, but a plan sees only this record.
const maxSPFLookups = 10

func (i *Item) decideSPF(same []Record) verdict {
	var found []Record
	for _, r := range same {
		if isSPF(r.Value) && !slices.ContainsFunc(found, r.equals) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return apply
	case 1:
	default:
		return i.markConflict("%s has %d SPF records, which receivers reject; merge them into one that contains include:%s.",
			i.Name, len(found), i.Include)
	}
	if strings.Contains(found[0].Value, `\`) {
		return i.markConflict("The SPF record at %s contains characters that cannot be rewritten safely; add include:%s "+
			"to it by hand.", i.Name, i.Include)
	}
	merged, reason := mergeSPF(found[0].Value, i.Include)
	switch {
	case reason != "":
		return i.markConflict("%s", reason)
	case merged == "":
		return unchanged
	}
	i.Write, i.replaces = merged, &found[0]
	return apply
}

// isSPF reports whether a text is an SPF record: the version ends with a space or with the record (RFC 7208
// section 4.5).
func isSPF(text string) bool {
	version, _, _ := strings.Cut(text, " ")
	return strings.EqualFold(version, "v=spf1")
}

// mergeSPF inserts an include into a record, right before the terms that end its evaluation: the all
// mechanism, or else the modifiers. It returns "" if the include already exists, or a sentence that explains
// why the record cannot be changed.
func mergeSPF(record, include string) (merged, reason string) {
	terms := strings.Fields(record)
	all, modifiers, lookups := len(terms), len(terms), 1
	for n, text := range terms[1:] {
		name, value := splitTerm(text)
		switch name {
		case "all":
			all = min(all, n+1)
		case "a", "mx", "ptr", "exists", "redirect=":
			lookups++
		case "include":
			lookups++
			if canonicalName(value) == canonicalName(include) {
				return "", includeProblem(text, all < len(terms))
			}
		}
		if strings.HasSuffix(name, "=") {
			modifiers = min(modifiers, n+1)
		}
	}
	if lookups > maxSPFLookups {
		return "", "The SPF record would need more than ten DNS look-ups with include:" + include +
			", and receivers stop there; remove a term first."
	}
	end := all
	if all == len(terms) {
		end = modifiers
	}
	return strings.Join(slices.Insert(terms, end, "include:"+include), " "), ""
}

// includeProblem returns the problem with our include at its position, or "".
func includeProblem(text string, behindAll bool) string {
	switch {
	case strings.ContainsAny(text[:1], "-~?"):
		return "Remove the qualifier before " + clipText(text) + " in the SPF record: mail from there must pass."
	case behindAll:
		return "Move " + clipText(text) + " before the all term of the SPF record: terms after it are ignored."
	}
	return ""
}

// splitTerm splits a mechanism or modifier (RFC 7208 section 4.6.1) into its name in lower case, including the =
// of a modifier, and its value.
func splitTerm(text string) (name, value string) {
	text = strings.TrimLeft(text, "+-~?")
	n := strings.IndexAny(text, ":/=")
	switch {
	case n < 0:
		return strings.ToLower(text), ""
	case text[n] == '=':
		return strings.ToLower(text[:n+1]), text[n+1:]
	default:
		return strings.ToLower(text[:n]), text[n+1:]
	}
}
