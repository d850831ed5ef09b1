package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// openFolder makes the folder of one attempt below root, for its account
// alone. What a former attempt of the same name left there goes first.
func openFolder(root string, x *entity.Execution, account Account) (string, error) {
	dir := filepath.Join(root, fmt.Sprintf("%s-%d", x.ID, x.Attempt))
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("clear the working folder: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the working folder: %w", err)
	}
	if account.Change {
		if err := os.Chown(dir, int(account.UID), int(account.GID)); err != nil {
			return "", fmt.Errorf("give the working folder to %s: %w", account.Name, err)
		}
	}
	return dir, nil
}

// PrepareFolders makes root, which others may pass and not read, and removes
// what runs of former lives left there. A root that is somebody else's, as one
// that was laid out in a folder for all, is refused.
func PrepareFolders(root string) error {
	if err := os.MkdirAll(root, 0o711); err != nil {
		return fmt.Errorf("make the folder of working folders: %w", err)
	}
	info, err := os.Lstat(root)
	if err != nil {
		return fmt.Errorf("look at the folder of working folders: %w", err)
	}
	if !info.IsDir() || !owned(info) {
		return fmt.Errorf("the folder of working folders, %s, is not a folder of this user's own: remove it", root)
	}
	if err := os.Chmod(root, 0o711); err != nil {
		return fmt.Errorf("open the folder of working folders: %w", err)
	}
	return ClearFolders(root)
}

// ClearFolders removes what runs of former lives left below root. It is called
// at a start, when none of them lives any more.
func ClearFolders(root string) error {
	entries, err := os.ReadDir(root)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the working folders: %w", err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(root, e.Name())); err != nil {
			return fmt.Errorf("remove the working folder %s: %w", e.Name(), err)
		}
	}
	return nil
}
