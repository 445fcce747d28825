import { useEffect, useMemo, useState } from 'react';

type Render = (text: string) => string;
let ready: Render | undefined;

/** Comes when first needed; until then the text stands there as it was written. */
function useRender(): Render | undefined {
  const [render, setRender] = useState<{ render: Render } | undefined>(ready && { render: ready });
  useEffect(() => {
    if (ready) return;
    let gone = false;
    void import('./markdown-text').then(({ markdownHtml }) => {
      ready = markdownHtml;
      if (!gone) setRender({ render: markdownHtml });
    });
    return () => void (gone = true);
  }, []);
  return render?.render;
}

export function Markdown({ text }: { text: string }) {
  const render = useRender();
  const html = useMemo(() => render?.(text), [render, text]);
  if (html === undefined) return <div className="markdown plain">{text}</div>;
  return <div className="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
