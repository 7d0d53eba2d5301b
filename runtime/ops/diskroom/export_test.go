package diskroom

// Dir returns the folder whose disk is monitored.
func (w *Sampler) Dir() string { return w.config.Dir }
