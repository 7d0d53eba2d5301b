package shown

// List converts each element. The result is never nil, so that it prints as [].
func List[T, V any](all []T, view func(T) V) []V {
	views := make([]V, len(all))
	for i, one := range all {
		views[i] = view(one)
	}
	return views
}
