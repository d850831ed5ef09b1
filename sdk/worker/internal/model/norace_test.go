//go:build !race

package model_test

const shallower = 0
