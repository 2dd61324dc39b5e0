"""What goes on by itself: loops that stop gently, and chores that one node does for all."""
