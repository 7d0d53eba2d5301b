package shown

// List gives the view of each, and an empty list rather than none: it prints as [].
func List[T, V any](all []T, view func(T) V) []V {
	views := make([]V, len(all))
	for i, one := range all {
		views[i] = view(one)
	}
	return views
}
