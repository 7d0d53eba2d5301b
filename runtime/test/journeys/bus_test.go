package journeys_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
	"github.com/postrider/postrider/runtime/test/harness"
)

// Whichever module registers a consumer: its group has a mark from the first start on, so that facts lost by
// the bus are found for it too.
func TestEveryConsumerGroupHasAMark(t *testing.T) {
	t.Parallel()
	database := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = database })
	metrics := string(app.Do(t, http.MethodGet, "/metrics", nil).Body)
	var groups []string
	for _, found := range regexp.MustCompile(`(?m)^postrider_bus_handled_total\{group="([^"]+)"`).
		FindAllStringSubmatch(metrics, -1) {
		groups = append(groups, found[1])
	}
	rows, err := faults.Query(t.Context(), database, `SELECT consumer FROM bus_marks`)
	if err != nil {
		t.Fatal(err)
	}
	var marked []string
	for _, row := range rows {
		marked = append(marked, row[0])
	}
	slices.Sort(groups)
	slices.Sort(marked)
	if !slices.Equal(groups, marked) || !slices.Contains(groups, "suppression") {
		t.Errorf("the groups %v are registered, but %v have marks", groups, marked)
	}
}
