import { sayFailed } from '@/shared/ui/say'

/** Saves a document as a file of the browser. */
export async function save(text: Promise<string>, file: string): Promise<void> {
  try {
    const address = URL.createObjectURL(new Blob([await text], { type: 'application/yaml' }))
    const link = document.createElement('a')
    link.href = address
    link.download = file
    link.click()
    setTimeout(() => URL.revokeObjectURL(address), 10_000)
  } catch (failure) {
    sayFailed(failure)
  }
}
