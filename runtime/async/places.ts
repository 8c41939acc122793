/** Limits concurrent work, in total and per group, in order of arrival. */
export class Places {
  private readonly waiting: { readonly group: string; readonly enter: () => void }[] = [];
  private readonly taken: string[] = [];

  constructor(private readonly most: { readonly all: number; readonly perGroup: number }) {}

  /** Resolves when a place is free. Call the result to leave the place, after `restMs` milliseconds. */
  enter(group: string): Promise<(restMs: number) => void> {
    return new Promise((resolve) => {
      this.waiting.push({ group, enter: () => resolve((restMs) => this.leave(group, restMs)) });
      this.admit();
    });
  }

  private leave(group: string, restMs: number): void {
    const free = (): void => {
      this.taken.splice(this.taken.indexOf(group), 1);
      this.admit();
    };
    if (restMs === 0) free();
    else setTimeout(free, restMs).unref();
  }

  private admit(): void {
    if (this.taken.length >= this.most.all) return;
    const numberIn = (group: string): number => this.taken.filter((each) => each === group).length;
    const next = this.waiting.find(({ group }) => numberIn(group) < this.most.perGroup);
    if (next === undefined) return;
    this.waiting.splice(this.waiting.indexOf(next), 1);
    this.taken.push(next.group);
    next.enter();
  }
}
