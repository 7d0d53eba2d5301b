package delivery

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
)

// A claim picks due rows, determines by which way each leaves and whether its lane has room, takes those that
// have room, and parks the others under the name of their lane. Parked rows are drawn when the lane has room.
// A slow or dead destination therefore costs one small update per message, however many there are, and delays
// no other mail.
//
// A lane is first in, first out: parked rows are judged before those of the common queue, and a row whose
// lane has parked rows is parked after them, even if the lane has room.

// pickedRow is a due recipient that this claim has locked.
type pickedRow struct {
	id       int64
	emailID  string
	attempts int            // before this claim
	due      int64          // in microseconds since 1970
	lane     sql.NullString // lane that it was drawn from; null: the common queue
	outbound.Question

	way     smtpclient.Way
	verdict grant
	ticket  ticket
	reason  string // for untried: why its lane is paused
	away    bool   // for park: another process will draw it
}

// isAhead reports whether the row is claimed before a connection is free for it.
func (c pickedRow) isAhead() bool { return c.ticket != nil && c.ticket.IsAhead() }

// grant is the decision about a pickedRow.
type grant int

const (
	leave   grant = iota // to a later claim, unchanged
	take                 // as a delivery
	park                 // in the lane that it belongs to
	untried              // take it, to postpone it with the lane's reason
)

// ticket is a reservation of a lane.
type ticket interface {
	End()
	IsAhead() bool // no connection was free for it
}

// pickSQL locks due rows of the common queue. From the time $2 on (if not null) it locks none: this process
// may have been silent since it sent the statement, and others may be about to store outcomes of rows that
// look due. Each email is looked up separately, because the planner would otherwise expect as many picked
// rows as due ones and read all emails. pickDrawnSQL also locks rows of each lane that has room. It is
// separate because usually no lane has room, and searching the lanes of all months is not free.
const (
	pickSQL      = pickCommonSQL + pickFoundSQL + `common` + pickEmailSQL
	pickDrawnSQL = pickCommonSQL + `, drawn AS (
	SELECT r.* FROM unnest($3::text[], $4::int[], $5::bigint[]) AS l (lane, room, late), LATERAL (
		SELECT id, email_id, attempts, due_at, lane, destination, via, account_id FROM recipients WHERE lane = l.lane AND due_at <= now() - l.late * interval '1 microsecond' AND ($2::timestamptz IS NULL OR now() < $2)
		ORDER BY due_at LIMIT l.room FOR UPDATE SKIP LOCKED) r
)` + pickFoundSQL + `(SELECT * FROM common UNION ALL SELECT * FROM drawn)` + pickEmailSQL

	pickCommonSQL = `
WITH common AS (
	SELECT id, email_id, attempts, due_at, lane, destination, via, account_id FROM recipients WHERE due_at <= now() AND lane IS NULL AND held_by IS NULL AND ($2::timestamptz IS NULL OR now() < $2) ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
)`
	pickFoundSQL = `
SELECT found.id, found.email_id, found.attempts, (extract(epoch FROM found.due_at) * 1000000)::bigint, found.lane, found.destination, found.via, found.account_id, e.domain_id
FROM `
	pickEmailSQL = ` found, LATERAL (SELECT domain_id FROM emails WHERE id = found.email_id LIMIT 1) e`
)

// draw says how many rows to take from a lane's parked rows.
type draw struct {
	lane    string
	adds    uint64        // to the lane, before the draw
	most    int           // rows that the lane has room for
	room    int           // rows that this claim takes
	late    time.Duration // only rows that are overdue by at least this long
	emptied bool          // it returned all rows of the lane, and none of them stays there
}

// pickRows locks up to common rows of the common queue and the rows of the draws, before the time until by the
// database clock. Drawn rows come first, then those that have been due longest.
func pickRows(ctx context.Context, tx *db.PreparedTx, common int, draws []draw, until time.Time) ([]pickedRow, error) {
	statement, args := pickSQL, []any{common, orNull(until)}
	lanes, rooms, late := make([]string, len(draws)), make([]int64, len(draws)), make([]int64, len(draws))
	for i, d := range draws {
		lanes[i], rooms[i], late[i] = d.lane, int64(d.room), d.late.Microseconds()
	}
	if len(draws) > 0 {
		statement, args = pickDrawnSQL, append(args, db.Array(lanes), db.Array(rooms), db.Array(late))
	}
	list, err := db.All(ctx, tx, func(row *pickedRow) []any {
		return []any{&row.id, &row.emailID, &row.attempts, &row.due, &row.lane, &row.Destination, &row.Via,
			&row.AccountID, &row.DomainID}
	}, statement, args...)
	slices.SortStableFunc(list, func(a, b pickedRow) int {
		if a.lane.Valid != b.lane.Valid {
			return map[bool]int{true: -1, false: 1}[a.lane.Valid]
		}
		return cmp.Compare(a.due, b.due)
	})
	return list, err
}

// countCommon counts the rows that were picked from the common queue.
func countCommon(list []pickedRow) (n int) {
	for _, row := range list {
		if !row.lane.Valid {
			n++
		}
	}
	return n
}

// leavesCommon reports whether rows of the common queue stay there for a later claim.
func leavesCommon(list []pickedRow) bool {
	return slices.ContainsFunc(list, func(row pickedRow) bool { return !row.lane.Valid && row.verdict == leave })
}

// orNull returns at as a statement argument, which is null for the zero time.
func orNull(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// judgePicked decides on each row, with at most limit deliveries. Drawn rows come first in the list, so the
// draws are complete when the rows of the common queue are judged.
func (c *claimer) judgePicked(ctx context.Context, list []pickedRow, draws []draw, limit int) error {
	questions := make([]outbound.Question, len(list))
	for i := range list {
		questions[i] = list[i].Question
	}
	ways, err := c.ways.Choose(ctx, questions)
	if err != nil {
		return fmt.Errorf("choose ways out: %w", err)
	}
	drawn := len(list) - countCommon(list)
	var unused []string
	lanes := judgedLanes{parking: c.parking}
	for i := range list {
		row := &list[i]
		row.way = ways[i]
		if i == drawn {
			lanes.emptied = markEmptied(draws, list[:drawn])
		}
		c.judgeRow(row, &lanes, &limit)
		if row.verdict == leave || row.verdict == park {
			unused = append(unused, row.way.Label)
		}
	}
	if drawn == len(list) {
		markEmptied(draws, list)
	}
	c.ways.Return(unused)
	return nil
}

// judgedLanes tracks, during one claim, in which lanes recipients wait.
type judgedLanes struct {
	parking *parking
	emptied map[string]bool // lanes whose parked rows have all been drawn, and none stays there
	joined  map[string]bool // lanes in which this claim parks a row
}

// isOccupied reports whether a row of the common queue has to wait for others of its lane.
func (l *judgedLanes) isOccupied(label string) bool {
	return l.joined[label] || l.parking.contains(label) && !l.emptied[label]
}

// joinLane records that this claim parks a row in a lane.
func (l *judgedLanes) joinLane(label string) {
	if l.joined == nil {
		l.joined = map[string]bool{}
	}
	l.joined[label] = true
}

// markEmptied marks the draws that leave no row in their lane, judging by the rows that they returned, and
// returns these lanes. A draw that returned as many rows as it asked for has not seen the others, and its
// rows may have to stay.
func markEmptied(draws []draw, drawn []pickedRow) map[string]bool {
	brought, left := map[string]int{}, map[string]bool{}
	for _, row := range drawn {
		brought[row.lane.String]++
		if row.verdict == leave {
			left[row.lane.String] = true
		}
	}
	emptied := map[string]bool{}
	for i := range draws {
		d := &draws[i]
		d.emptied = d.late == 0 && brought[d.lane] < d.room && !left[d.lane]
		emptied[d.lane] = d.emptied
	}
	return emptied
}

func (c *claimer) judgeRow(row *pickedRow, lanes *judgedLanes, limit *int) {
	if *limit == 0 {
		return
	}
	if place := c.ways.RoutingOf(row.way.Label); place != outbound.Open {
		c.judgeAway(row, place, limit)
		return
	}
	label := laneLabel(row.way.Label, row.Destination)
	if !row.lane.Valid && lanes.isOccupied(label) {
		row.verdict = park
		return
	}
	if reserved, ok := c.lanes.Reserve(row.way.Label, row.Destination); ok {
		row.verdict, row.ticket = take, reserved
		*limit--
		return
	}
	if !row.lane.Valid {
		row.verdict = park
		lanes.joinLane(label)
		return
	}
	if _, reason, paused := c.lanes.PausedUntil(row.way.Label, row.Destination); paused &&
		c.parking.isPaused(row.lane.String) {
		row.verdict, row.reason = untried, "connections to this destination are suspended: "+reason
		*limit--
		return
	}
	if row.lane.String != label {
		row.verdict = park // its way has changed since it was parked
	}
}

// judgeAway decides on a row whose way out this process does not have. The row waits in its lane, without an
// attempt, until the process that has the way draws it. If no process has had the way for long, the row is
// postponed as after an attempt, as in a paused lane.
func (c *claimer) judgeAway(row *pickedRow, place outbound.Routing, limit *int) {
	switch {
	case !row.lane.Valid || row.lane.String != laneLabel(row.way.Label, row.Destination):
		row.verdict, row.away = park, place == outbound.OnOtherNode
	case place == outbound.Unroutable && c.parking.isPaused(row.lane.String):
		row.verdict, row.reason = untried, "no running process has the source address "+row.way.Label
		*limit--
	}
}

// parkedRows are the lanes in which a claim parked rows.
type parkedRows struct {
	lanes  []string // lanes that this process draws from
	others bool     // whether rows were parked for other processes
}

func (p parkedRows) hasRows() bool { return p.others || len(p.lanes) > 0 }

// parkSQL moves picked rows into their lanes.
const parkSQL = `
UPDATE recipients r SET lane = v.lane FROM unnest($1::text[], $2::bigint[], $3::text[]) AS v (email_id, id, lane) WHERE ` + lifecycle.RecipientSQL

func (c *claimer) parkRows(ctx context.Context, tx *db.PreparedTx, list []pickedRow) (parked parkedRows, err error) {
	var ids []int64
	var emails, labels []string
	for _, row := range list {
		if row.verdict != park {
			continue
		}
		label := laneLabel(row.way.Label, row.Destination)
		emails, ids, labels = append(emails, row.emailID), append(ids, row.id), append(labels, label)
		if parked.others = parked.others || row.away; !row.away {
			parked.lanes = append(parked.lanes, label)
		}
	}
	if len(ids) == 0 {
		return parked, nil
	}
	if _, err := tx.ExecContext(ctx, parkSQL, db.Array(emails), db.Array(ids), db.Array(labels)); err != nil {
		return parkedRows{}, fmt.Errorf("park recipients: %w", err)
	}
	slices.Sort(parked.lanes)
	parked.lanes = slices.Compact(parked.lanes)
	return parked, nil
}
