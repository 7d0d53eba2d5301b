package secret

import "strings"

// Mask is shown in place of a secret that stays unchanged.
const Mask = "********"

// MaskURL returns a URL without its possible secrets: the user info and the query values. Everything else
// is unchanged.
func MaskURL(text string) string {
	base, query, fragment := cutURL(text)
	if from, to := userOf(base); from < to {
		base = base[:from] + Mask + base[to:]
	}
	return base + mapQuery(query, func(string) string { return Mask }) + fragment
}

// UnmaskURL replaces the masks in a URL with the values of the same query fields of the original. It
// reports false if a mask remains. The base of both URLs, up to the query, must be equal: the secrets
// belong to that address only.
func UnmaskURL(text, original string) (string, bool) {
	base, query, fragment := cutURL(text)
	known, hidden, _ := cutURL(original)
	if from, to := userOf(known); from < to && base == known[:from]+Mask+known[to:] {
		base = known
	}
	if !strings.Contains(text, Mask) || base != known {
		return text, !strings.Contains(text, Mask)
	}
	values := map[string][]string{}
	mapQuery(hidden, func(pair string) string {
		name, value := cutPair(pair)
		values[name] = append(values[name], value)
		return ""
	})
	query = mapQuery(query, func(pair string) string {
		name, value := cutPair(pair)
		left := values[name]
		if len(left) == 0 {
			return value
		}
		values[name] = left[1:]
		if value == Mask {
			return left[0]
		}
		return value
	})
	text = base + query + fragment
	return text, !strings.Contains(text, Mask)
}

// cutURL splits a URL before its query and before its fragment.
func cutURL(text string) (base, query, fragment string) {
	if i := strings.IndexByte(text, '#'); i >= 0 {
		text, fragment = text[:i], text[i:]
	}
	if i := strings.IndexByte(text, '?'); i >= 0 {
		text, query = text[:i], text[i:]
	}
	return text, query, fragment
}

// userOf returns the position of the user info in a URL, without the @ after it.
func userOf(base string) (from, to int) {
	i := strings.Index(base, "://")
	if i < 0 {
		return 0, 0
	}
	from = i + len("://")
	host := base[from:]
	if end := strings.IndexAny(host, "/\\"); end >= 0 {
		host = host[:end]
	}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		return from, from + at
	}
	return 0, 0
}

// mapQuery replaces the value of each field of a query that begins with a question mark. A field without =
// is a value without a name. Empty values stay empty.
func mapQuery(query string, value func(pair string) string) string {
	rest, found := strings.CutPrefix(query, "?")
	if !found {
		return query
	}
	pairs := strings.Split(rest, "&")
	for i, pair := range pairs {
		if _, old := cutPair(pair); old != "" {
			pairs[i] = strings.TrimSuffix(pair, old) + value(pair)
		}
	}
	return "?" + strings.Join(pairs, "&")
}

func cutPair(pair string) (name, value string) {
	name, value, found := strings.Cut(pair, "=")
	if !found {
		return "", pair
	}
	return name, value
}
