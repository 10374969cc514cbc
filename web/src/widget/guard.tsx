// Keeps the rest of the page when one part throws an error.

import { Component, type ComponentChildren } from "preact";

interface Props {
  /** What failed, as the start of a sentence. */
  what: string;
  children: ComponentChildren;
}

export class Guard extends Component<Props, { error: Error | null }> {
  override state = { error: null as Error | null };

  override componentDidCatch(error: Error): void {
    this.setState({ error });
  }

  render() {
    if (!this.state.error) return this.props.children;
    return (
      <div class="guard" role="alert">
        <span>{this.props.what} failed: {String(this.state.error.message).slice(0, 200)}.</span>
        <button type="button" onClick={() => this.setState({ error: null })}>Try again</button>
      </div>
    );
  }
}
