package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/storage/db"
)

// deleteUnits deletes the rows of units of the base, which the difference replaces.
func (i *importer) deleteUnits(ctx context.Context, name string, content []byte) error {
	group, _, _ := strings.Cut(strings.TrimPrefix(name, unitFolder), "/")
	switch {
	case !slices.Contains(groups(), group):
		return errors.New("not an entry of an account's file")
	case i.at > 0 || i.rows[tables[0].name] > 0:
		return errors.New("it must precede the tables")
	}
	list := asArray(content)
	for _, t := range slices.Backward(tables) {
		if t.group != group {
			continue
		}
		if _, err := db.Exec(ctx, i.tx, `DELETE FROM `+t.name+` WHERE account_id = $1 AND `+t.unit+` IN (SELECT json_array_elements_text($2::json))`,
			i.manifest.AccountID, list); err != nil {
			return fmt.Errorf("delete from %s: %w", t.name, err)
		}
	}
	i.rows[unitFolder+group] += int64(strings.Count(string(content), "\n"))
	return nil
}

// mapUsers replaces ids of people in rows of the base with those that they have at the target.
func (i *importer) mapUsers(ctx context.Context) error {
	for _, t := range tables {
		for column, value := range t.set {
			if t.group == "" || value != userIn(column)[column] {
				continue
			}
			if _, err := db.Exec(ctx, i.tx, `UPDATE `+t.name+` t SET `+column+` = u.new FROM transfer_users u WHERE t.account_id = $1 AND t.`+
				column+` = u.old AND u.new <> u.old`, i.manifest.AccountID); err != nil {
				return fmt.Errorf("map people in %s: %w", t.name, err)
			}
		}
	}
	return nil
}
