package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type suppressionsImportCommand struct {
	remote

	JSON  bool `help:"Print the numbers and the refused addresses as JSON." name:"json" xor:"form"`
	Quiet bool `help:"Print only the refused addresses." short:"q" xor:"form"`

	File   string `arg:"" help:"CSV file with a header, or one address per line; - is standard input." name:"file"`
	Column string `help:"Column with the addresses (default: recognized by its name)." placeholder:"NAME"`
}

// addressColumns are the columns with addresses in exports from Resend, Postmark, SendGrid, Mailgun, SES and
// Postal, in lower case without spaces and underscores.
var addressColumns = []string{"email", "emailaddress", "address", "recipient", "recipientemail"}

// importBatch is the maximum number of addresses per request.
const importBatch = 1000

func (c *suppressionsImportCommand) Run(s *session) error {
	in := io.Reader(os.Stdin)
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	addresses, err := readAddresses(in, c.Column)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	server, err := c.server()
	if err != nil {
		return err
	}
	counts := map[string]int{}
	refused := []refusedAddress{}
	for batch := range slices.Chunk(addresses, importBatch) {
		var answer struct {
			Data []struct {
				Index  int
				Status string
				Error  *struct {
					Message string
					Details map[string]string
				}
			}
		}
		if err := server.Do(s.ctx, client.Request{Method: http.MethodPost, Path: "/suppressions/batch",
			Body: map[string][]string{"emails": batch}}, &answer); err != nil {
			return fmt.Errorf("after %d addresses: %w", counts["added"]+counts["existing"]+counts["failed"], err)
		}
		for _, item := range answer.Data {
			counts[item.Status]++
			if item.Error != nil && item.Index < len(batch) {
				address := refusedAddress{batch[item.Index], joinReasons(item.Error.Message, item.Error.Details)}
				fmt.Fprintf(s.log, "%s: %s\n", address.Address, address.Error)
				refused = append(refused, address)
			}
		}
	}
	switch {
	case c.JSON:
		err = s.print(map[string]any{"added": counts["added"], "existing": counts["existing"],
			"failed": counts["failed"], "refused": refused})
	case !c.Quiet:
		_, err = fmt.Fprintf(s.out, "%d added\n%d existing\n%d failed\n", counts["added"], counts["existing"],
			counts["failed"])
	}
	if err != nil {
		return err
	}
	if counts["failed"] > 0 {
		return errors.New("some addresses were not imported")
	}
	return nil
}

// refusedAddress is an address that was not imported.
type refusedAddress struct {
	Address string `json:"address"`
	Error   string `json:"error"`
}

// joinReasons returns the message of an error with the reason of each field, in order.
func joinReasons(message string, details map[string]string) string {
	var reasons []string
	for _, field := range slices.Sorted(maps.Keys(details)) {
		reasons = append(reasons, field+" "+details[field])
	}
	if len(reasons) == 0 {
		return message
	}
	return message + " (" + strings.Join(reasons, "; ") + ")"
}

// readAddresses returns the distinct addresses of a CSV file, in their order. Without a header that names a
// column, the first column contains the addresses.
func readAddresses(in io.Reader, column string) (addresses []string, err error) {
	rows := csv.NewReader(in)
	rows.FieldsPerRecord, rows.LazyQuotes, rows.TrimLeadingSpace = -1, true, true
	at, seen := -1, map[string]bool{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if at < 0 {
			var isHeader bool
			if at, isHeader, err = findAddressColumn(row, column); err != nil {
				return nil, err
			} else if isHeader {
				continue
			}
		}
		if at >= len(row) {
			continue
		}
		address := strings.TrimSpace(row[at])
		if key := strings.ToLower(address); key != "" && !seen[key] {
			seen[key] = true
			addresses = append(addresses, address)
		}
	}
	return addresses, nil
}

// findAddressColumn finds the addresses in the first row, and reports whether it is a header.
func findAddressColumn(first []string, column string) (at int, isHeader bool, err error) {
	plain := func(name string) string {
		return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "", "\ufeff", "").Replace(name))
	}
	wanted := addressColumns
	if column != "" {
		wanted = []string{plain(column)}
	}
	for _, name := range wanted {
		if at := slices.IndexFunc(first, func(cell string) bool { return plain(cell) == name }); at >= 0 {
			return at, true, nil
		}
	}
	if column == "" && len(first) > 0 && strings.Contains(first[0], "@") {
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("no column with addresses in the header %q: use --column", first)
}
