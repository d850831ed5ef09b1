package enginetest

import "context"

// vault is a store of secrets in which each value is its name, twice.
type vault struct{}

// Open implements secrecy.Opener.
func (v vault) Open(ctx context.Context, _ string, names []string) (map[string]string, error) {
	return v.OpenToHide(ctx, names)
}

// OpenToHide implements secrecy.Opener.
func (vault) OpenToHide(_ context.Context, names []string) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range names {
		values[name] = name + name
	}
	return values, nil
}
