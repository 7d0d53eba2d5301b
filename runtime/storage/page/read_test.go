package page

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForwardPages(t *testing.T) {
	t.Parallel()
	codec := NewCodec([]byte("0123456789abcdef"))
	list := List{Name: "numbers", AccountID: "acc_1"}
	cursors := func(numbers ...int) (all []string) {
		for _, n := range numbers {
			all = append(all, codec.Encode(list, strconv.Itoa(n)))
		}
		return all
	}
	for name, c := range map[string]struct {
		rows []int
		want Page[int]
	}{
		"no rows":              {nil, Page[int]{}},
		"fewer than the limit": {[]int{9, 8}, Page[int]{Items: []int{9, 8}, Cursors: cursors(9, 8)}},
		"as many as the limit": {[]int{9, 8, 7}, Page[int]{Items: []int{9, 8, 7}, Cursors: cursors(9, 8, 7)}},
		"one more than the page": {[]int{9, 8, 7, 6},
			Page[int]{Items: []int{9, 8, 7}, HasMore: true, NextCursor: codec.Encode(list, "7"),
				Cursors: cursors(9, 8, 7)}},
	} {
		if diff := cmp.Diff(c.want, FromRows(codec, list, c.rows, Position{Limit: 3}, strconv.Itoa)); diff != "" {
			t.Errorf("the page of %s differs (-want +got):\n%s", name, diff)
		}
	}
}

func TestBackwardPages(t *testing.T) {
	t.Parallel()
	codec := NewCodec([]byte("0123456789abcdef"))
	list := List{Name: "numbers", AccountID: "acc_1"}
	for name, c := range map[string]struct {
		rows []int
		at   Position
		want Page[int]
	}{
		"the end of the list": {[]int{1, 2, 3}, Position{Limit: 2, Back: true}, Page[int]{Items: []int{2, 1}, HasPrevious: true}},
		"before an entry": {[]int{4, 5, 6}, Position{Limit: 2, ID: "3", Back: true},
			Page[int]{Items: []int{5, 4}, HasMore: true, HasPrevious: true, NextCursor: codec.Encode(list, "4")}},
		"the beginning of the list": {[]int{8, 9}, Position{Limit: 2, ID: "7", Back: true},
			Page[int]{Items: []int{9, 8}, HasMore: true, NextCursor: codec.Encode(list, "8")}},
		"nothing before": {nil, Position{Limit: 2, ID: "9", Back: true}, Page[int]{HasMore: true}},
	} {
		got := FromRows(codec, list, c.rows, c.at, strconv.Itoa)
		if len(got.Cursors) != len(got.Items) {
			t.Errorf("the page of %s has %d cursors for %d items", name, len(got.Cursors), len(got.Items))
		}
		got.Cursors = nil
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("the page of %s differs (-want +got):\n%s", name, diff)
		}
	}
}

func TestMapKeepsCursors(t *testing.T) {
	t.Parallel()
	got := Map(Page[int]{Items: []int{1, 2}, HasMore: true, NextCursor: "next"}, strconv.Itoa)
	if diff := cmp.Diff(Page[string]{Items: []string{"1", "2"}, HasMore: true, NextCursor: "next"}, got); diff != "" {
		t.Errorf("the mapped page differs (-want +got):\n%s", diff)
	}
	if got := Map(Page[int]{}, strconv.Itoa); got.Items == nil || len(got.Items) != 0 {
		t.Errorf("a mapped page without items has %#v, want an empty list that is not nil", got.Items)
	}
}
