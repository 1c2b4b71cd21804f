"""What people read: sentences, data cards, pictures, and the templates of pages.

It is given plain values, and knows nothing of how a release, an audit or a comparison comes about.
"""
