package domains

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
)

// turnover reads what a check saw of keys in the light of the keys as they are
// now, under the lock: another check or a rotation may have come in between. It
// tells which waiting keys are to sign from now on, because a signature of
// theirs was verified with the published record; and the observations, of which
// only that of the RSA key that signs after it counts for verification. So a
// customer may publish the new record and take the old one away in one step.
func turnover(keys []*ent.DKIMKey, seen []observation) (ripe []*ent.DKIMKey, current []observation) {
	bySelector := make(map[string]*ent.DKIMKey, len(keys))
	for _, key := range keys {
		bySelector[key.Selector] = key
	}
	for _, o := range seen {
		if key := bySelector[o.selector]; o.purpose == DKIM && key != nil && key.State == dkimkey.StatePending && !o.unanswered && o.status == Verified {
			ripe = append(ripe, key)
		}
	}
	signs := keyIn(keys, dkimkey.AlgorithmRsaSha256, dkimkey.StateActive)
	if next := keyIn(ripe, dkimkey.AlgorithmRsaSha256, dkimkey.StatePending); next != nil {
		signs = next
	}
	answered := false
	for _, o := range seen {
		if o.purpose == DKIM {
			if bySelector[o.selector] == nil {
				continue // gone meanwhile
			}
			o.optional = signs == nil || o.selector != signs.Selector
			answered = answered || !o.optional
		}
		current = append(current, o)
	}
	if !answered { // nobody has looked yet at the key that signs now
		o := observation{purpose: DKIM, unanswered: true, advice: notChecked}
		if signs != nil {
			o.selector = signs.Selector
		}
		current = append(current, o)
	}
	return ripe, current
}

// waiting is the age of the newest key that waits for its record and is not
// among the ripe ones; negative when there is none.
func waiting(keys, ripe []*ent.DKIMKey, now time.Time) time.Duration {
	age := time.Duration(-1)
	for _, key := range keys {
		if key.State != dkimkey.StatePending || keyIn(ripe, key.Algorithm, key.State) != nil {
			continue
		}
		if this := max(now.Sub(key.CreatedAt), 0); age < 0 || this < age {
			age = this
		}
	}
	return age
}

// untilWaiting is the time until the next look for the record of a key that
// waits: half its age, so that somebody who publishes it soon is not kept
// waiting and a forgotten one costs little.
func untilWaiting(age time.Duration) time.Duration {
	return min(max(age/2, firstCheck), seldom)
}
