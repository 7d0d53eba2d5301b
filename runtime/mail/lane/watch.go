package lane

// Watch sets who is told as Config.OnRoom says. It is called before the lanes are in
// use, by whoever claims work for them and did not exist yet when they were made.
func (r *Registry) Watch(onRoom func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cfg.OnRoom = onRoom
}
