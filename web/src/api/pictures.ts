// Pictures that are asked for, so that what is less urgent can wait until they are there: the findings of a large run
// occupy every core for seconds.

/** How long panels take to ask for pictures of a run that the page shows, in ms; the first time it may be longer. */
const asksWithin = 60;
const firstWithin = 1000;

export class Pictures {
  private open = 0;
  private asked = 0;
  private readonly waiting = new Set<() => void>();

  /** Takes a picture that is asked for. */
  async count<T>(picture: Promise<T>): Promise<T> {
    this.open++;
    this.asked++;
    try {
      return await picture;
    } finally {
      if (--this.open === 0) {
        for (const each of this.waiting) each();
        this.waiting.clear();
      }
    }
  }

  /** Resolves once all are there that the page asks for now, after so many ms at the latest. */
  there(most: number): Promise<void> {
    return new Promise((done) => {
      const look = (again: boolean) => {
        if (this.asked === 0 && again) return void setTimeout(look, firstWithin, false);
        if (this.open === 0) return done();
        this.waiting.add(done);
        setTimeout(() => { this.waiting.delete(done); done(); }, most);
      };
      setTimeout(look, asksWithin, true);
    });
  }
}
