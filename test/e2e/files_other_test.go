//go:build !unix

package e2e_test

func fewFiles() {}
