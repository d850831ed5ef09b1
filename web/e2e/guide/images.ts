import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from 'playwright-core'
import type { Console } from '../harness'

const QUALITY = 0.42
/** The share of pixels that may differ: clocks, ids and milliseconds do, in each run. */
const ALIKE = 0.004

/** Packs pictures as WebP, and keeps those that look as before. The browser itself does both. */
export class Images {
  private written = 0
  private kept = 0
  private bytes = 0

  private constructor(private readonly page: Page) {}

  static async start(browser: Console): Promise<Images> {
    return new Images(await (await browser.window()).newPage())
  }

  async keep(file: string, png: Buffer): Promise<void> {
    const old = existsSync(file) ? await readFile(file) : undefined
    const { packed, differs } = await this.page.evaluate(async ([now, before, quality]) => {
      const draw = async (address: string) => {
        const image = new Image()
        image.src = address
        await image.decode()
        const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight)
        const context = canvas.getContext('2d', { willReadFrequently: true })
        if (!context) throw new Error('there is no canvas')
        context.drawImage(image, 0, 0)
        return { canvas, pixels: context.getImageData(0, 0, canvas.width, canvas.height).data }
      }
      const pack = async (canvas: OffscreenCanvas) => {
        const blob = await canvas.convertToBlob({ type: 'image/webp', quality })
        const address = await new Promise<string>((resolve) => {
          const reader = new FileReader()
          reader.onload = () => resolve(String(reader.result))
          reader.readAsDataURL(blob)
        })
        return address
      }
      const a = await draw(`data:image/png;base64,${now}`)
      const packed = await pack(a.canvas)
      if (before === '') return { packed, differs: 1 }
      // Both went through the same packing, so that its losses are alike.
      const [x, y] = [await draw(packed), await draw(`data:image/webp;base64,${before}`)]
      if (x.pixels.length !== y.pixels.length) return { packed, differs: 1 }
      let different = 0
      for (let at = 0; at < x.pixels.length; at += 4) {
        const far = Math.abs((x.pixels[at] ?? 0) - (y.pixels[at] ?? 0)) + Math.abs((x.pixels[at + 1] ?? 0) - (y.pixels[at + 1] ?? 0))
        if (far > 48) different++
      }
      return { packed, differs: different / (x.pixels.length / 4) }
    }, [png.toString('base64'), old?.toString('base64') ?? '', QUALITY] as const)
    if (old && differs <= ALIKE) {
      this.kept++
      this.bytes += old.length
      return
    }
    const data = Buffer.from(packed.slice(packed.indexOf(',') + 1), 'base64')
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, data)
    this.written++
    this.bytes += data.length
  }

  said(): string {
    return `${this.written} pictures written, ${this.kept} as before, ${(this.bytes / 1024 / 1024).toFixed(2)} MiB in all`
  }
}
