// A text file that the user picks, and may change and read again.

export interface OpenFile {
  name: string;
  read: () => Promise<string>;
}

interface PickerWindow {
  showOpenFilePicker?: () => Promise<{ name: string; getFile(): Promise<File> }[]>;
}

/** Asks for a file; where the browser allows it, it can be read again later. */
export async function openFile(): Promise<OpenFile | null> {
  const picker = (window as unknown as PickerWindow).showOpenFilePicker;
  if (picker) {
    try {
      const [handle] = await picker();
      if (handle) return { name: handle.name, read: async () => bounded(await handle.getFile()) };
    } catch {
      return null; // nothing was chosen
    }
  }
  return new Promise((resolve) => {
    const input = document.createElement("input");
    input.type = "file";
    input.onchange = () => {
      const f = input.files?.[0];
      resolve(f ? { name: f.name, read: () => bounded(f) } : null);
    };
    input.oncancel = () => resolve(null);
    input.click();
  });
}

async function bounded(f: File): Promise<string> {
  if (f.size > 1 << 20) throw new Error("larger than a layout may be");
  return (await f.text()).replaceAll("\r\n", "\n");
}
