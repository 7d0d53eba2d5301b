// Package brand stores the appearance of an account on pages that its recipients see: a name, a color and a
// logo. The unsubscribe page shows it.
package brand
