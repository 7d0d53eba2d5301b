package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/postrider/postrider/cmd/postrider/client"
)

const defaultBaseURL = "http://127.0.0.1:8080"

// remote is a running Postrider and the API key to use there.
type remote struct {
	BaseURL string `env:"POSTRIDER_BASE_URL" help:"URL of Postrider (default: from the profile, or http://127.0.0.1:8080)." name:"base-url" placeholder:"URL"`
	APIKey  string `env:"POSTRIDER_API_KEY" help:"API key (default: from the profile). Prefer the environment variable." name:"api-key" placeholder:"svc_…"`
	Profile string `env:"POSTRIDER_PROFILE" help:"Profile that postrider login has stored (default: default)." placeholder:"NAME"`
}

// server returns the server to call. A flag or variable takes precedence over the profile. The key of a profile is sent
// only to the server of that profile.
func (r remote) server() (client.Server, error) {
	profiles, err := client.OpenProfiles()
	if err != nil && (r.Profile != "" || r.APIKey == "") { // with an explicit key, no file is needed
		return client.Server{}, err
	}
	profile, ok := profiles.Find(r.Profile)
	if r.Profile != "" && !ok {
		return client.Server{}, fmt.Errorf("--profile: there is no profile %q: run postrider login --profile=%s", r.Profile,
			r.Profile)
	}
	s := client.Server{BaseURL: cmp.Or(r.BaseURL, profile.BaseURL, defaultBaseURL), APIKey: r.APIKey}
	if s.APIKey == "" && isSameServer(s.BaseURL, profile.BaseURL) {
		s.APIKey = profile.APIKey
	}
	return s, s.Validate()
}

func isSameServer(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// do sends a request to the server and decodes the response into out, unless out is nil.
func (r remote) do(s *session, q client.Request, out any) error {
	server, err := r.server()
	if err != nil {
		return err
	}
	return server.Do(s.ctx, q, out)
}

// output selects the format in which a command prints the response of the server.
type output struct {
	JSON  bool `help:"Print JSON as the API returns it." name:"json" xor:"form"`
	Quiet bool `help:"Print IDs only, one per line." short:"q" xor:"form"`
}

// printItem prints an object of the API. A table contains only the named fields.
func (o output) printItem(s *session, item json.RawMessage, members ...string) error {
	if o.JSON {
		return s.printJSON(item)
	}
	fields, err := decodeItem(item)
	if err != nil {
		return err
	}
	if o.Quiet {
		_, err := fmt.Fprintln(s.out, formatCell(fields["id"]))
		return err
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, name := range members {
		fmt.Fprintf(w, "%s\t%s\n", titleOf(name), formatCell(fields[name]))
	}
	return w.Flush()
}

// printDone prints what a command did: a value as JSON, or the IDs of the objects it concerns, or a text.
func (o output) printDone(s *session, value any, ids []string, format string, args ...any) error {
	switch {
	case o.JSON:
		return s.print(value)
	case o.Quiet:
		_, err := io.WriteString(s.out, joinLines(ids))
		return err
	}
	_, err := fmt.Fprintf(s.out, format, args...)
	return err
}

func joinLines(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(line + "\n")
	}
	return out.String()
}

// printJSON prints JSON with indentation.
func (s *session) printJSON(value json.RawMessage) error {
	var out bytes.Buffer
	if err := json.Indent(&out, value, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err := s.out.Write(out.Bytes())
	return err
}

// listFlags are the flags of commands that print a list.
type listFlags struct {
	remote
	output

	Limit int `default:"20" help:"Number of entries to print; 0 prints all." placeholder:"N"`
}

// list prints a list of the API, whose items are in the field name of each page. A table contains only the named
// fields.
func (l listFlags) list(s *session, path, name string, query url.Values, members ...string) error {
	if l.Limit < 0 {
		return misusef("--limit: cannot be negative")
	}
	server, err := l.server()
	if err != nil {
		return err
	}
	if l.JSON {
		return listJSON(s, server, path, name, query, l.Limit)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	heading := func() {
		if !l.Quiet {
			fmt.Fprintln(w, strings.Join(titlesOf(members), "\t"))
		}
	}
	found := 0
	err = server.List(s.ctx, path, name, query, l.Limit, func(item json.RawMessage) error {
		if found++; found == 1 {
			heading()
		}
		fields, err := decodeItem(item)
		if err != nil {
			return err
		}
		if l.Quiet {
			fmt.Fprintln(w, formatCell(fields["id"]))
			return nil
		}
		var cells []string
		for _, name := range members {
			cells = append(cells, shortenCell(formatCell(fields[name])))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
		return nil
	})
	if err == nil && found == 0 {
		heading()
	}
	if err == nil && found == l.Limit && !l.Quiet {
		fmt.Fprintf(s.log, "These are the first %d. Use --limit to print more.\n", found)
	}
	return errors.Join(err, w.Flush())
}

// printRows prints objects as a table of the named fields.
func (s *session) printRows(rows []map[string]any, members ...string) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(titlesOf(members), "\t"))
	for _, row := range rows {
		var cells []string
		for _, name := range members {
			cells = append(cells, formatCell(row[name]))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// listJSON prints a list as one JSON object, as it arrives.
func listJSON(s *session, server client.Server, path, name string, query url.Values, limit int) error {
	between := fmt.Sprintf("{%q: [", name)
	err := server.List(s.ctx, path, name, query, limit, func(item json.RawMessage) error {
		var out bytes.Buffer
		out.WriteString(between + "\n    ")
		if err := json.Indent(&out, item, "    ", "  "); err != nil {
			return err
		}
		between = ","
		_, err := s.out.Write(out.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	if between == "," {
		between = "\n  "
	}
	_, err = io.WriteString(s.out, between+"]}\n")
	return err
}

func decodeItem(item json.RawMessage) (map[string]any, error) {
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(item))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, fmt.Errorf("decode the response: %w", err)
	}
	return fields, nil
}

func titlesOf(members []string) (titles []string) {
	for _, name := range members {
		titles = append(titles, titleOf(name))
	}
	return titles
}

func titleOf(member string) string { return strings.ToUpper(strings.ReplaceAll(member, "_", " ")) }

// formatCell formats a value for a table. Control characters become spaces: outside parties write subjects and names,
// and their text must not control the user's terminal.
func formatCell(value any) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, formatCell(one))
		}
		return cmp.Or(strings.Join(parts, ", "), "-")
	case map[string]any:
		if name, ok := v["name"]; ok {
			return formatCell(name)
		}
		encoded, err := json.Marshal(v)
		if err != nil {
			return "-"
		}
		return string(encoded)
	default:
		return cmp.Or(clean(fmt.Sprint(v)), "-")
	}
}

// clean replaces control and format characters with spaces.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text))
}

// cleanLines is clean for text of several lines.
func cleanLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(clean(strings.ReplaceAll(line, "\t", "    ")), " "))
	}
	return strings.Join(lines, "\n")
}

const maxCell = 60 // characters

func shortenCell(text string) string {
	if r := []rune(text); len(r) > maxCell {
		return string(r[:maxCell-1]) + "…"
	}
	return text
}

// parseTime parses a time (RFC 3339) or an age such as 2h, and returns it in the format that the API accepts. An empty
// text stays empty.
func parseTime(flag, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return time.Now().Add(-age).UTC().Format(time.RFC3339), nil
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return "", misusef("%s: %q must be a time such as 2026-01-31T12:00:00Z or an age such as 2h", flag, text)
	}
	return text, nil
}

// queryOf returns the parameters that have a value, from alternating names and values.
func queryOf(pairs ...string) url.Values {
	query := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if value := pair[len(pair)-1]; value != "" {
			query.Set(pair[0], value)
		}
	}
	return query
}

// readText returns the content of a file, or of standard input for "-".
func readText(path string) (string, error) {
	if path == "-" {
		content, err := io.ReadAll(os.Stdin)
		return string(content), err
	}
	content, err := os.ReadFile(path)
	return string(content), err
}

// isTerminal reports whether a file is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// confirm asks the user for confirmation, unless yes is set. Without a terminal, yes is required.
func (s *session) confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	if !isTerminal(os.Stdin) {
		return misusef("--yes: is required without a terminal")
	}
	fmt.Fprintf(s.log, "%s [y/N] ", question)
	var answer string
	_, _ = fmt.Fscanln(os.Stdin, &answer) // an empty line means no
	if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		return errors.New("nothing was changed")
	}
	return nil
}
