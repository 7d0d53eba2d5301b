package diskroom

// Dir returns the folder whose disk is watched.
func (w *Sampler) Dir() string { return w.config.Dir }
