// Package brand is what an account looks like on the pages that its recipients see: a name, a
// color and a logo. The page where they unsubscribe shows it.
package brand
